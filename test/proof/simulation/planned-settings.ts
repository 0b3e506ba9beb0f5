// Chance → configurations of a bridge: approvers, policy, group and sinks of several kinds.
import type { Chance } from './chance.ts';
import type { ApprovalSettings, ApproverSettings, RuleSettings, Settings, SinkSettings } from './history.ts';
import { machineName, TOPIC_APPROVER } from './history.ts';
import { plannedTerms } from './planned-terms.ts';

const IMPACTS = ['Freeze', 'Reboot', 'Redeploy', 'Preempt', 'Terminate'];
const CHANGES = ['scheduled', 'updated', 'started', 'ended', 'approval.submitted', 'source.blind', 'source.restored'];

export function plannedSettings(chance: Chance, machines: number, startMs: number): Settings {
  return {
    metadata: {
      pollInterval: chance.one(['1s', '1s', '1s', '2s', '5s']),
      timeout: chance.one(['2s', '10s']),
      settle: chance.one(['10s', '30s', '60s']),
    },
    publish: { resources: chance.is(0.15) ? 'own' : 'all' },
    approvals: approvalSettings(chance, machines, startMs),
    sinks: sinkSettings(chance),
  };
}

/** What a reload may change: rights, rules, filters and how a sink sends. The names of the sinks stay. */
export function otherSettings(chance: Chance, first: Settings, machines: number, startMs: number): Settings {
  const sinks = Object.entries(first.sinks).map(([name, sink]): [string, SinkSettings] => [
    name,
    name === 'audit' || chance.is(0.6) ? sink : { ...sink, label: `b${chance.between(0, 100)}` },
  ]);
  const approvals = chance.is(0.5)
    ? { ...approvalSettings(chance, machines, startMs), group: first.approvals.group }
    : { ...first.approvals, approvers: approvers(chance, machines) };
  const named = Object.fromEntries(sinks.map(([name, sink]) => [name, fitting(sink, approvals)]));
  return { ...first, approvals, sinks: named };
}

function approvalSettings(chance: Chance, machines: number, startMs: number): ApprovalSettings {
  const named = approvers(chance, machines);
  return {
    approvers: named,
    required: chance.one<ApprovalSettings['required']>(['any', 'any', 'any', 'all', 2, ['orders']]),
    ...policyTerms(chance, startMs),
    group: chance.is(0.5) ? { submit: 'every' } : { submit: 'leader', failoverAfter: chance.one(['3s', '10s']) },
    dryRun: chance.is(0.05),
  };
}

/** `orders` and the topic's one stay, because sinks, the topic and `required` name them. */
function approvers(chance: Chance, machines: number): Readonly<Record<string, ApproverSettings>> {
  return {
    orders: chance.is(0.3) ? { scope: scope(chance, machines) } : {},
    ...(chance.is(0.8) && { billing: chance.is(0.6) ? { scope: scope(chance, machines) } : {} }),
    operator: { admin: true },
    [TOPIC_APPROVER]: chance.is(0.2) ? { scope: scope(chance, machines) } : {},
  };
}

function scope(chance: Chance, machines: number): NonNullable<ApproverSettings['scope']> {
  return chance.is(0.5)
    ? { impacts: chance.some(IMPACTS, 0.5).concat('Freeze') }
    : { resources: [chance.one(['web_*', machineName(chance.between(0, machines)), 'web_?'])] };
}

function policyTerms(chance: Chance, startMs: number): Pick<ApprovalSettings, 'policy' | 'windows' | 'budgets'> {
  if (chance.is(0.1)) return { policy: 'documentation' };
  const { rules, ...terms } = plannedTerms(chance, startMs, IMPACTS);
  // First, or behind rules that may match before them.
  return { policy: chance.is(0.6) ? [...rules, ...policy(chance)] : [...policy(chance), ...rules], ...terms };
}

function policy(chance: Chance): readonly RuleSettings[] {
  const rules: RuleSettings[] = [];
  if (chance.is(0.3)) rules.push({ when: { initiators: ['User'] }, then: 'approve' });
  if (chance.is(0.4))
    rules.push({ when: { impacts: ['Freeze'], duration: { min: '0s', below: '9s' } }, then: 'approve' });
  if (chance.is(0.3)) rules.push({ when: { impacts: ['Terminate'] }, then: 'never' });
  if (chance.is(0.4))
    rules.push({
      when: { impacts: chance.some(IMPACTS, 0.4).concat('Redeploy') },
      then: 'wait',
      ...(chance.is(0.4) && { required: chance.one<ApprovalSettings['required']>(['any', 'all', 2]) }),
      ...(chance.is(0.6) && {
        deadline: { before: `${chance.between(5, 90)}s`, then: chance.one(['approve', 'approve', 'leave'] as const) },
      }),
    });
  if (rules.length === 0 || chance.is(0.1)) rules.push({ when: { resources: ['web_0', 'web_1'] }, then: 'approve' });
  return rules;
}

/** `audit` hears everything; the others are like the kinds of sinks that there are. */
function sinkSettings(chance: Chance): Readonly<Record<string, SinkSettings>> {
  const label = 'a';
  return {
    audit: { inFlight: 4, batch: 1, label },
    hook: { inFlight: 4, batch: 1, label, ...plannedFilter(chance) },
    ...(chance.is(0.6) && { topic: { inFlight: 1, batch: 100, label, ...plannedFilter(chance) } }),
    ...(chance.is(0.4) && { bulk: { inFlight: 2, batch: 10, label, ...plannedFilter(chance) } }),
    ...(chance.is(0.35) && {
      drain: {
        inFlight: 2,
        batch: 1,
        label,
        filter: { changes: ['scheduled', 'started', 'ended'] },
        approve: 'orders',
        hold: chance.is(0.6),
      },
    }),
  };
}

export function plannedFilter(chance: Chance): Pick<SinkSettings, 'filter'> {
  if (chance.is(0.5)) return {};
  return {
    filter: {
      ...(chance.is(0.4) && { changes: chance.some(CHANGES, 0.5).concat('scheduled') }),
      ...(chance.is(0.3) && { impacts: chance.some(IMPACTS, 0.5).concat('Reboot') }),
      ...(chance.is(0.2) && { initiators: ['Platform'] }),
      ...(chance.is(0.3) && { resources: [chance.one(['web_0', 'web_*', '*_1'])] }),
    },
  };
}

/** A sink can only approve for an approver that there is. */
function fitting(sink: SinkSettings, { approvers: named }: ApprovalSettings): SinkSettings {
  if (sink.approve === undefined || named[sink.approve] !== undefined) return sink;
  const { approve: _, hold: __, ...rest } = sink;
  return rest;
}
