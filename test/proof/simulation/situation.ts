// A planned history and a time → the steps of one short situation, and what its settings allow.
import { type Chance, guidOf } from './chance.ts';
import { type Act, type History, machineName, type RuleSettings, type Settings, type Step } from './history.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;

/** When the last event of the plan is scheduled. */
export function lastMsOf({ steps }: History): number {
  return Math.max(MINUTE, ...steps.flatMap((step) => (step.do === 'schedule' ? [step.atMs] : [])));
}

interface SituationParts {
  readonly history: History;
  /** Those of the begin. */
  readonly settings: Settings;
  readonly chance: Chance;
  readonly atMs: number;
  /** The names of its events begin with it. */
  readonly name: string;
}

/** Each situation has events of its own. */
export class Situation {
  readonly steps: Step[] = [];
  readonly settings: Settings;
  readonly chance: Chance;
  readonly names: readonly string[];
  readonly machine: number;
  readonly #parts: SituationParts;
  #atMs: number;
  #events = 0;

  constructor(parts: SituationParts) {
    this.#parts = parts;
    this.#atMs = parts.atMs;
    this.settings = parts.settings;
    this.chance = parts.chance;
    this.names = Array.from({ length: parts.history.machines }, (_, index) => machineName(index));
    this.machine = parts.chance.between(0, parts.history.machines);
  }

  get startMs(): number {
    return this.#parts.history.startMs;
  }

  get lastMs(): number {
    return lastMsOf(this.#parts.history);
  }

  /** A sink holds each event until its program has prepared for it. */
  get isHeldBySink(): boolean {
    return Object.values(this.settings.sinks).some(({ hold }) => hold === true);
  }

  /** Counts all times from this one. */
  beginAt(atMs: number): void {
    this.#atMs = atMs;
  }

  at(seconds: number, act: Act): void {
    this.steps.push({ atMs: Math.round(this.#atMs + seconds * SECOND), ...act });
  }

  /** Schedules an event and returns its name in the steps. */
  schedule(seconds: number, fields: Extract<Act, { readonly do: 'schedule' }>['fields']): string {
    const { history, name } = this.#parts;
    const event = `${name}-${this.#events++}`;
    const id = guidOf(history.seed, history.world, event);
    const common = { EventSource: 'Platform', DurationInSeconds: 30, startedFor: '5s', Resources: this.names };
    this.at(seconds, { do: 'schedule', event, id, fields: { ...common, ...fields } });
    return event;
  }

  ask(seconds: number, as: string, act: 'approve' | 'hold' | 'release', event: string): void {
    this.at(seconds, { do: 'ask', machine: this.machine, as, act, event, seen: false });
  }

  /** Everybody who may approve says yes at this machine. */
  approveByAll(seconds: number, event: string): void {
    for (const as of ['orders', 'billing', 'operator']) this.ask(seconds, as, 'approve', event);
    this.at(seconds, { do: 'tell', act: 'approve', event });
  }

  killEach(seconds: number, downMs: number): void {
    for (const machine of this.names.keys()) this.at(seconds, { do: 'kill', machine, downMs });
  }

  /** The first rule of these settings that has one of these, and approves. */
  approvingRule(has: 'during' | 'budgets'): RuleSettings | undefined {
    const { policy } = this.settings.approvals;
    if (policy === 'documentation') return undefined;
    return policy.find((rule) => rule.then === 'approve' && rule[has] !== undefined);
  }

  /** A kind of event that waits for approvers, if there is one. */
  waitingImpact(): string {
    const { policy } = this.settings.approvals;
    const rules = policy === 'documentation' ? [] : policy.filter((rule) => rule.then !== 'wait');
    const decided = new Set(rules.flatMap(({ when }) => when.impacts ?? []));
    return ['Preempt', 'Terminate', 'Reboot', 'Redeploy'].find((each) => !decided.has(each)) ?? 'Preempt';
  }

  /** A kind of event that this rule approves. */
  impactFor({ when }: RuleSettings): string {
    return when.impacts === undefined ? 'Reboot' : this.chance.one(when.impacts);
  }
}
