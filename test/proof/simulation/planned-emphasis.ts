// A planned history → in half of them, the same with settings that one kind of fault needs.
import type { Chance } from './chance.ts';
import type { ApprovalSettings, History, RuleSettings, Settings } from './history.ts';

const MINUTE_MS = 60_000;
const WHEN: RuleSettings['when'] = { impacts: ['Reboot', 'Redeploy'] };

/** Its draws do not depend on what the history is. */
export function withEmphasis(history: History, chance: Chance): History {
  const emphasis = chance.one([tightBudget, closingWindow, preparingSink, null, null, null]);
  const minutes = chance.between(2, 6);
  if (emphasis === null) return history;
  return { ...history, settings: history.settings.map((each) => emphasis(each, history.startMs, minutes)) };
}

/** One machine at a time, with a rest after it. */
function tightBudget(settings: Settings): Settings {
  const budgets = { tight: { resources: ['web_*'], atMost: 1, rest: '45s' } };
  return withRule(settings, { when: WHEN, then: 'approve', budgets: ['tight'] }, { budgets });
}

/** It closes within the history. The machines post one after another. */
function closingWindow(settings: Settings, startMs: number, minutes: number): Settings {
  const timeOf = (atMs: number) => new Date(atMs).toISOString().slice(11, 16);
  const closing = {
    days: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
    from: timeOf(startMs - 60 * MINUTE_MS),
    to: timeOf(startMs + minutes * MINUTE_MS),
  };
  const group = { submit: 'leader', failoverAfter: '10s' } as const;
  const rule = { when: WHEN, then: 'approve', during: ['closing'] } as const;
  return withRule(settings, rule, { windows: { closing }, group });
}

/** It holds each event until its program has prepared for it. No program waits for others to end. */
function preparingSink(settings: Settings): Settings {
  const filter = { changes: ['scheduled', 'started', 'ended'] };
  const drain = { inFlight: 32, batch: 1, label: 'a', filter, approve: 'orders', hold: true };
  const approvers = { ...settings.approvals.approvers, billing: {} };
  const approvals = { ...settings.approvals, approvers, required: 'any' as const };
  return { ...settings, approvals, sinks: { ...settings.sinks, drain } };
}

/** This rule comes before the others. */
function withRule(
  { approvals, ...settings }: Settings,
  rule: RuleSettings,
  terms: Pick<ApprovalSettings, 'windows' | 'budgets'> & Partial<Pick<ApprovalSettings, 'group'>>,
): Settings {
  const policy = [rule, ...(approvals.policy === 'documentation' ? [] : approvals.policy)];
  const windows = { ...approvals.windows, ...terms.windows };
  const budgets = { ...approvals.budgets, ...terms.budgets };
  const named = {
    ...(Object.keys(windows).length > 0 && { windows }),
    ...(Object.keys(budgets).length > 0 && { budgets }),
  };
  return { ...settings, approvals: { ...approvals, ...named, policy, group: terms.group ?? approvals.group } };
}
