// A configuration and an event → who may approve, what is enough, whose turn (behaviour 6.8, 8).
import type { ScheduledEvent } from '../../../src/model/events.ts';

export interface OracleWhen {
  readonly impacts?: readonly string[] | undefined;
  readonly initiators?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly notice?: { readonly aboveMs?: number | undefined; readonly belowMs?: number | undefined } | undefined;
  readonly duration?: { readonly minMs?: number | undefined; readonly belowMs?: number | undefined } | undefined;
}

export type OracleRequired = 'any' | 'all' | number | readonly string[];

export interface OracleRule {
  readonly when: OracleWhen;
  readonly then: 'approve' | 'wait' | 'never';
  readonly required?: OracleRequired | undefined;
  readonly deadline?: { readonly beforeMs: number; readonly then: 'approve' | 'leave' } | undefined;
}

export interface OracleScope {
  readonly impacts?: readonly string[];
  readonly resources?: readonly string[];
}

/** What one process of the bridge runs with. */
export interface OracleConfig {
  readonly approvers: Readonly<Record<string, { readonly scope?: OracleScope; readonly admin?: boolean }>>;
  readonly required: OracleRequired;
  readonly policy: readonly OracleRule[];
  readonly group: {
    readonly submit: 'every' | 'leader';
    readonly failoverAfterMs: number;
    readonly members: readonly string[];
  };
  readonly ownName: string;
  readonly dryRun: boolean;
  /** By name: sinks that hold what they are sent, which is every event here, and for whom. */
  readonly holdingSinks: ReadonlyMap<string, string>;
  /** Approvers for whom the topic may not act. */
  readonly unauthorized: readonly string[];
}

export interface OracleRuling {
  /** What the rule says, in whatever order: its number may change. Null where none matches. */
  readonly rule: string | null;
  readonly then: 'approve' | 'wait' | 'never';
  readonly required: OracleRequired;
  readonly deadline: { readonly beforeMs: number; readonly then: 'approve' | 'leave' } | null;
}

/** Whether a source, or a sink of now or before, may act for this approver now. `via` as in the record. */
export function isAuthorizedIn(
  { holdingSinks, unauthorized }: OracleConfig,
  { approver, via }: { approver: string; via: string },
): boolean {
  if (via === 'source:topic') return !unauthorized.includes(approver);
  return via.startsWith('sink:') ? holdingSinks.get(via.slice('sink:'.length)) === approver : true;
}

export function rulingFor({ policy, required }: OracleConfig, event: ScheduledEvent, nowMs: number): OracleRuling {
  const waits: OracleRuling = { rule: null, then: 'wait', required, deadline: null };
  if (event.eventType === 'SpotRebalanceRecommendation') return { ...waits, then: 'never' };
  for (const rule of policy) {
    if (!applies(rule, event, nowMs)) continue;
    const said = contentOf(rule);
    if (rule.then !== 'wait') return { rule: said, then: rule.then, required, deadline: null };
    const reachesAll = rule.when.resources === undefined || covers(rule.when.resources, event.resources);
    const deadline = rule.deadline && (reachesAll ? rule.deadline : { ...rule.deadline, then: 'leave' as const });
    return { rule: said, then: 'wait', required: rule.required ?? required, deadline: deadline ?? null };
  }
  return waits;
}

function contentOf({ when, then, required, deadline }: OracleRule): string {
  const { impacts, initiators, resources, notice, duration } = when;
  const lists = [impacts, initiators, resources, typeof required === 'object' ? required : undefined].map((list) =>
    list?.toSorted(),
  );
  const limits = [notice?.aboveMs, notice?.belowMs, duration?.minMs, duration?.belowMs, deadline?.beforeMs];
  return JSON.stringify([then, ...lists, typeof required === 'object' ? null : required, ...limits, deadline?.then]);
}

function applies({ when, then }: OracleRule, event: ScheduledEvent, nowMs: number): boolean {
  const { impacts, initiators, resources, notice, duration } = when;
  if (impacts && !holds(impacts, event.eventType)) return false;
  if (initiators && !holds(initiators, event.eventSource)) return false;
  if (resources && !(then === 'approve' ? covers(resources, event.resources) : touchesAny(resources, event.resources)))
    return false;
  const leftMs = event.notBefore === null ? 0 : Math.max(0, Date.parse(event.notBefore) - nowMs);
  if (notice?.aboveMs !== undefined && leftMs <= notice.aboveMs) return false;
  if (notice?.belowMs !== undefined && leftMs >= notice.belowMs) return false;
  if (duration === undefined) return true;
  const lastsMs = event.durationInSeconds * 1000;
  return (
    lastsMs >= 0 && lastsMs >= (duration.minMs ?? 0) && (duration.belowMs === undefined || lastsMs < duration.belowMs)
  );
}

/** `forbidden`: never, or none of the names that are required; `scope`: not all of the event; null: may approve it. */
export function refusalOf(
  config: OracleConfig,
  ruling: OracleRuling,
  name: string,
  event: ScheduledEvent,
): 'forbidden' | 'scope' | null {
  if (ruling.then === 'never') return 'forbidden';
  if (typeof ruling.required === 'object' && !ruling.required.includes(name)) return 'forbidden';
  const approver = config.approvers[name];
  if (approver === undefined) return 'scope';
  const { impacts, resources } = approver.scope ?? {};
  if (impacts && !holds(impacts, event.eventType)) return 'scope';
  return resources && !covers(resources, event.resources) ? 'scope' : null;
}

/** Whether the approver is concerned, so may hold, and is one of `all`. */
export function isConcerned(config: OracleConfig, name: string, event: ScheduledEvent): boolean {
  const approver = config.approvers[name];
  if (approver === undefined) return false;
  const { impacts, resources } = approver.scope ?? {};
  return (
    (impacts === undefined || holds(impacts, event.eventType)) &&
    (resources === undefined || touchesAny(resources, event.resources))
  );
}

export function isEnough(
  config: OracleConfig,
  ruling: OracleRuling,
  event: ScheduledEvent,
  names: readonly string[],
): boolean {
  const counted = names.filter((name) => refusalOf(config, ruling, name, event) === null);
  if (counted.length === 0) return false;
  if (ruling.required === 'any') return true;
  if (typeof ruling.required === 'number') return counted.length >= ruling.required;
  const wanted =
    ruling.required === 'all'
      ? Object.keys(config.approvers).filter((name) => isConcerned(config, name, event))
      : ruling.required;
  return wanted.every((name) => counted.includes(name));
}

/** How long after its decision this bridge may post by rank; null: never. */
export function waitOf({ group, ownName }: OracleConfig, { resources }: ScheduledEvent): number | null {
  if (group.submit === 'every') return 0;
  const named = [...new Set(resources.map((name) => name.toLowerCase()))].sort();
  const others = group.members.map((name) => name.toLowerCase()).filter((name) => !named.includes(name));
  const rank = [...named, ...others].indexOf(ownName.toLowerCase());
  return rank < 0 ? null : rank * group.failoverAfterMs;
}

const HARDNESS = ['Freeze', 'Reboot', 'Redeploy', 'Preempt', 'Terminate'];

/** What makes an approval of `before` void (behaviour 6.8). */
export function hasGotWorse(before: ScheduledEvent, now: ScheduledEvent): boolean {
  const hardness = ({ eventType }: ScheduledEvent) => (HARDNESS.includes(eventType) ? HARDNESS.indexOf(eventType) : 99);
  if (hardness(now) > hardness(before)) return true;
  if (hardness(now) === 99 && now.eventType !== before.eventType) return true;
  const [lasted, lasts] = [before.durationInSeconds, now.durationInSeconds];
  if (lasted >= 0 && (lasts < 0 || lasts > lasted)) return true;
  const named = before.resources.map((name) => name.toLowerCase());
  if (now.resources.some((name) => !named.includes(name.toLowerCase()))) return true;
  if (before.notBefore === null) return false;
  return now.notBefore === null || Date.parse(now.notBefore) < Date.parse(before.notBefore);
}

function holds(list: readonly string[], text: string): boolean {
  return list.some((each) => each.toLowerCase() === text.toLowerCase());
}

function covers(globs: readonly string[], names: readonly string[]): boolean {
  return names.length > 0 && names.every((name) => fits(globs, name));
}

function touchesAny(globs: readonly string[], names: readonly string[]): boolean {
  return names.some((name) => fits(globs, name));
}

/** The only wildcard of these tests is a star at the end. */
function fits(globs: readonly string[], name: string): boolean {
  return globs.some((glob) => {
    const [wanted, given] = [glob.toLowerCase(), name.toLowerCase()];
    return wanted.endsWith('*') ? given.startsWith(wanted.slice(0, -1)) : given === wanted;
  });
}
