// What a group of a fleet lives through, as data: its settings, and one event after another.
import { type KillMoment, machineName, type Settings } from '../simulation/history.ts';

/** How much later each rank posts. */
export const FAILOVER_MS = 3000;

export interface Play {
  /** So many machines are in the event's `Resources`. */
  readonly named: number;
  /**
   * Machines that die when the event is listed, before they read it: the first ones to read it, the first ranks, or any.
   * They are back after the event. At least two of the named machines live.
   */
  readonly dead: { readonly which: 'fastest' | 'first ranks' | 'random'; readonly count: number };
  /** The first rank that lives dies before its StartRequest leaves, or before it has the answer. */
  readonly posterDiesAt: Extract<KillMoment, 'post' | 'posted'> | null;
}

export interface Life {
  readonly seed: number;
  /** Tells apart the lives of a seed. */
  readonly name: string;
  readonly machines: number;
  readonly submit: 'leader' | 'every';
  readonly resources: 'all' | 'own';
  readonly plays: readonly Play[];
}

export function play(fields: Partial<Play> = {}): Play {
  return { named: 100, dead: { which: 'fastest', count: 0 }, posterDiesAt: null, ...fields };
}

/** Nobody but an approver decides, in a topic that each bridge reads. */
export function settingsOf({ submit, resources }: Life): Settings {
  return {
    metadata: { pollInterval: '1s', timeout: '10s', settle: '10s' },
    publish: { resources },
    approvals: {
      approvers: { orders: {}, operator: { admin: true }, desk: {} },
      required: 'any',
      policy: [{ when: { resources: ['nobody'] }, then: 'never' }],
      group: submit === 'leader' ? { submit, failoverAfter: `${FAILOVER_MS / 1000}s` } : { submit },
      dryRun: false,
    },
    // The oracles read what is published in the sink of this name.
    sinks: { audit: { inFlight: 16, batch: 1, label: 'a' } },
  };
}

/** The machines that an event names, in the order of their ranks. */
export function byRank(named: number): readonly number[] {
  const index = new Map(Array.from({ length: named }, (_, machine) => [machineName(machine), machine]));
  return [...index.keys()].sort().map((name) => index.get(name) as number);
}
