// A planned history → short sequences of steps that chance alone seldom brings together.
import { Chance, guidOf } from './chance.ts';
import { type Act, type History, machineName, type RuleSettings, type Settings, type Step } from './history.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** Of the situations that fit the settings of a history, it has this share. */
const SHARE = 0.5;

/** The steps of the situations. Each situation has events of its own. */
export function situations(history: History): readonly Step[] {
  const [settings] = history.settings;
  if (settings === undefined) return [];
  return SITUATIONS.flatMap((begin, number) => {
    const chance = new Chance(history.seed, history.world, 'situation', number);
    if (!chance.is(SHARE)) return [];
    const atMs = chance.between(10 * SECOND, lastMsOf(history));
    const situation = new Situation({ history, settings, chance, atMs, number });
    begin(situation);
    return situation.steps;
  });
}

function lastMsOf({ steps }: History): number {
  return Math.max(MINUTE, ...steps.flatMap((step) => (step.do === 'schedule' ? [step.atMs] : [])));
}

interface SituationParts {
  readonly history: History;
  /** Those of the begin. */
  readonly settings: Settings;
  readonly chance: Chance;
  readonly atMs: number;
  /** Its place in the list. */
  readonly number: number;
}

class Situation {
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

  /** Counts all times from this one. */
  beginAt(atMs: number): void {
    this.#atMs = atMs;
  }

  at(seconds: number, act: Act): void {
    this.steps.push({ atMs: Math.round(this.#atMs + seconds * SECOND), ...act });
  }

  /** Schedules an event and returns its name in the steps. */
  schedule(seconds: number, fields: Extract<Act, { readonly do: 'schedule' }>['fields']): string {
    const { history, number } = this.#parts;
    const event = `s${number}-${this.#events++}`;
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

  /** A kind of event that this rule approves. */
  impactFor({ when }: RuleSettings): string {
    return when.impacts === undefined ? 'Reboot' : this.chance.one(when.impacts);
  }
}

/** The leader is away, and the window closes before the turn of the others comes. */
function turnAfterWindow(situation: Situation): void {
  const rule = situation.approvingRule('during');
  const { group, windows = {} } = situation.settings.approvals;
  if (rule === undefined || group.submit !== 'leader' || situation.names.length < 2) return;
  const ends = Object.values(windows).flatMap(({ to, timeZone }) => endsOf(situation, to, timeZone ?? 'UTC'));
  const endMs = ends.find((each) => each > 30 * SECOND && each < situation.lastMs + 2 * MINUTE);
  if (endMs === undefined) return;
  const waitSeconds = Number.parseInt(group.failoverAfter ?? '10s', 10);
  situation.beginAt(endMs - situation.chance.between(1, waitSeconds) * SECOND);
  situation.at(-2, { do: 'kill', machine: 0, downMs: 90 * SECOND });
  situation.schedule(0, { EventType: situation.impactFor(rule), notice: '200s' });
}

/** Minutes of the history at which the clock of the zone shows this time. */
function endsOf({ startMs, lastMs }: Situation, to: string, timeZone: string): readonly number[] {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, hourCycle: 'h23', hour: '2-digit', minute: '2-digit' });
  const minutes = Array.from({ length: Math.ceil(lastMs / MINUTE) + 2 }, (_, index) => index * MINUTE);
  return minutes.filter((ms) => clock.format(startMs + ms) === to.replace('24:00', '00:00'));
}

/** One machine rests after its event, each bridge starts again, and another machine is next. */
function restAcrossRestart(situation: Situation): void {
  const rule = situation.approvingRule('budgets');
  const [one, other] = situation.names;
  if (rule === undefined || one === undefined || other === undefined) return;
  const EventType = situation.impactFor(rule);
  situation.schedule(0, { EventType, Resources: [one], notice: '120s', startedFor: '3s' });
  situation.killEach(12, SECOND);
  for (const seconds of [16, 30]) situation.schedule(seconds, { EventType, Resources: [other], notice: '120s' });
}

/** A StartRequest is accepted and its answer lost. The event waits for others when somebody wants to hold it. */
function holdAfterLostAnswer(situation: Situation): void {
  const { machine, chance } = situation;
  const event = situation.schedule(0, { EventType: 'Reboot', notice: '120s', otherTenants: '25s' });
  situation.at(2.9, { do: 'metadata', machine, fault: 'post-answer-lost', forMs: 20 * SECOND });
  situation.approveByAll(3, event);
  // Soon after a reset, or after the time limit.
  const limit = Number.parseInt(situation.settings.metadata.timeout, 10);
  for (const seconds of [3.2, 3.6, 3.1 + limit])
    situation.ask(seconds + chance.next() * 0.3, 'operator', 'hold', event);
}

/** It got worse behind a yes: what was said before must be said again. */
function worseBehindYes(situation: Situation): void {
  const { chance, names } = situation;
  const [one = '', other = one] = names;
  const sinks = Object.values(situation.settings.sinks);
  const isPrepared = sinks.some(({ hold }) => hold === true);
  const event = situation.schedule(0, { EventType: 'Reboot', Resources: [one], notice: '240s' });
  situation.ask(1, 'billing', 'hold', event);
  if (chance.is(0.7)) situation.ask(2, 'orders', 'approve', event);
  const worse = [{ EventType: 'Terminate' }, { notice: '150s' }, { DurationInSeconds: 600 }];
  // A program prepares for at most 20 s.
  const worseAt = isPrepared ? 25 : 6;
  const fields = one !== other && chance.is(0.5) ? { Resources: [other] } : chance.one(worse);
  situation.at(worseAt, { do: 'change', event, fields });
  if (chance.is(isPrepared ? 0.9 : 0.5)) situation.ask(worseAt + 3, 'billing', 'approve', event);
  situation.ask(worseAt + 4, 'billing', 'release', event);
}

/** Changes of two events wait in a queue; then the far side refuses the batches that they are sent in. */
function refusedBatches(situation: Situation): void {
  const { machine, chance, settings } = situation;
  const sink = chance.one(['topic', 'bulk'].filter((name) => settings.sinks[name] !== undefined).concat('topic'));
  if (settings.sinks[sink] === undefined) return;
  // Three events that fail one after another would open the circuit breaker.
  for (const begin of [0, 40, 80]) {
    situation.at(begin, { do: 'command', machine, act: 'pause', sink });
    for (const offset of [1, 2]) {
      const event = situation.schedule(begin + offset, { EventType: 'Reboot', notice: '200s' });
      for (const change of [1, 2, 3])
        situation.at(begin + offset + 4 * change, { do: 'change', event, fields: { Description: `words ${change}` } });
    }
    situation.at(begin + 17, { do: 'sink', machine, sink, trouble: 'refusing', forMs: 20 * SECOND });
    situation.at(begin + 18, { do: 'command', machine, act: 'resume', sink });
  }
}

/** The metadata service answers StartRequests, and gives no document. */
function yesInBlindness(situation: Situation): void {
  const { machine, chance } = situation;
  const event = situation.schedule(0, { EventType: 'Reboot', notice: '120s' });
  situation.at(3, { do: 'metadata', machine, fault: chance.one(['page', 'broken-json']), forMs: 40 * SECOND });
  situation.approveByAll(chance.between(14, 35), event);
}

/** A yes comes by the topic before this bridge has read its event, and the bridge starts again before that. */
function yesBeforeEvent(situation: Situation): void {
  const { chance, settings } = situation;
  const machine = settings.approvals.group.submit === 'leader' ? 0 : situation.machine;
  const event = situation.schedule(0, { EventType: chance.one(['Preempt', 'Preempt', 'Terminate']), notice: '120s' });
  situation.at(-1, { do: 'metadata', machine, fault: 'page', forMs: 10 * SECOND });
  situation.at(1, { do: 'tell', act: 'approve', event });
  if (chance.is(0.8)) situation.at(4, { do: 'kill', machine, downMs: SECOND });
  if (settings.approvals.required !== 'any')
    situation.at(14, { do: 'ask', machine, as: 'operator', act: 'approve', event, seen: false });
}

/** Entries that cannot be read come after documents without the event, and before its end. */
function unreadableEntries(situation: Situation): void {
  const { machine, chance } = situation;
  const event = situation.schedule(0, { EventType: 'Redeploy', notice: '240s' });
  const [first, second] = chance.is(0.7)
    ? (['empty', 'statusless-entries'] as const)
    : (['nameless-entries', 'empty'] as const);
  situation.at(5, { do: 'metadata', machine, fault: first, forMs: 5 * SECOND });
  situation.at(10, { do: 'metadata', machine, fault: second, forMs: 14 * SECOND });
  if (chance.is(0.8)) situation.at(16, { do: 'kill', machine, downMs: SECOND });
  situation.at(chance.between(12, 30), { do: 'cancel', event });
}

/** Rights, rules and filters change, and change again. */
function otherSettingsTwice(situation: Situation): void {
  const { machine, chance } = situation;
  for (const seconds of [0, 60]) situation.at(seconds, { do: 'settings', machine, use: chance.between(0, 4) });
}

/** A new one belongs at the end, because the number of each is the name of its stream of chance. */
const SITUATIONS: readonly ((situation: Situation) => void)[] = [
  turnAfterWindow,
  restAcrossRestart,
  holdAfterLostAnswer,
  worseBehindYes,
  refusedBatches,
  yesInBlindness,
  yesBeforeEvent,
  unreadableEntries,
  worseBehindYes,
  otherSettingsTwice,
  yesBeforeEvent,
  restAcrossRestart,
  yesBeforeEvent,
  yesBeforeEvent,
  worseBehindYes,
  worseBehindYes,
];
