// Requests of approvers and their answers → whether only those who are configured were let in.
import type { Settings } from '../history.ts';
import type { Observation, Observed } from '../observation.ts';
import type { Report } from './finding.ts';

/** Also from the 20th failure of an address on. */
const UNKNOWN: ReadonlySet<number> = new Set([401, 429]);

/** Whose token no configuration knew from the request to the answer is unknown to the bridge. */
export function judgeAnswers(seen: readonly Observation[], first: Settings, report: Report): void {
  const open = new Map<number, { readonly asked: Observed<'request'>; isKnown: boolean }>();
  let current = first;
  /** Reloads that have begun, and whose outcome is not known yet. */
  const coming = new Set<Settings>();
  for (const each of seen) {
    if (each.kind === 'begun') {
      current = each.settings;
      coming.clear();
    } else if (each.kind === 'settings' && each.outcome === 'asked') coming.add(each.settings);
    else if (each.kind === 'settings') {
      coming.delete(each.settings);
      if (each.outcome === 'applied') current = each.settings;
    } else if (each.kind === 'request') open.set(each.request, { asked: each, isKnown: false });
    else if (each.kind === 'reply') {
      judge(each, open.get(each.request), report);
      open.delete(each.request);
    }
    for (const one of open.values())
      one.isKnown ||= [current, ...coming].some(({ approvals }) => Object.hasOwn(approvals.approvers, one.asked.as));
  }
}

function judge(
  { request, status, atMs }: Observed<'reply'>,
  one: { readonly asked: Observed<'request'>; readonly isKnown: boolean } | undefined,
  report: Report,
): void {
  if (one === undefined || one.isKnown || status === null || UNKNOWN.has(status)) return;
  report('forbidden', atMs, `request ${request}: ${one.asked.as} is not configured, and was answered ${status}`);
}
