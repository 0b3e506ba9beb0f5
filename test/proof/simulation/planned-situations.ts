// A planned history → short sequences of steps that chance alone seldom brings together.
import { Chance } from './chance.ts';
import { type History, machineName, type Step } from './history.ts';
import { lastMsOf, MINUTE, SECOND, Situation } from './situation.ts';

/** Of the situations that fit the settings of a history, it has this share. */
const SHARE = 0.5;

/** After the last step of the plan: what faults would disturb, and what it needs to show. */
const ENDINGS_MS = [10 * SECOND, 50 * SECOND];

/** The steps of the situations. Those at the end are in each history. */
export function situations(history: History): readonly Step[] {
  const [settings] = history.settings;
  if (settings === undefined) return [];
  const within = SITUATIONS.flatMap((begin, number) => {
    const chance = new Chance(history.seed, history.world, 'situation', number);
    if (!chance.is(SHARE)) return [];
    const atMs = chance.between(10 * SECOND, lastMsOf(history));
    const situation = new Situation({ history, settings, chance, atMs, name: `s${number}` });
    begin(situation);
    return situation.steps;
  });
  const lastStepMs = Math.max(...[...history.steps, ...within].map((step) => step.atMs));
  const atTheEnd = ENDINGS_MS.flatMap((afterMs, place) => {
    const chance = new Chance(history.seed, history.world, 'ending', place);
    const situation = new Situation({ history, settings, chance, atMs: lastStepMs + afterMs, name: `last${place}` });
    if (place === 0) unreadableEntries(situation);
    else if (situation.isHeldBySink) worseBehindYes(situation);
    else yesBeforeEvent(situation);
    return situation.steps;
  });
  return [...within, ...atTheEnd];
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
  const { chance, names, isHeldBySink } = situation;
  const [one = '', other = one] = names;
  const event = situation.schedule(0, { EventType: 'Reboot', Resources: [one], notice: '240s' });
  // As soon as the bridge has read it, whatever its poll interval is.
  for (const seconds of [1, 2.2, 5.2]) situation.ask(seconds, 'billing', 'hold', event);
  if (chance.is(0.7)) situation.ask(5.5, 'orders', 'approve', event);
  const worse = [{ EventType: 'Terminate' }, { notice: '150s' }, { DurationInSeconds: 600 }];
  // A program prepares for at most 20 s.
  const worseAt = isHeldBySink ? 27 : 7;
  const fields = one !== other && chance.is(0.5) ? { Resources: [other] } : chance.one(worse);
  situation.at(worseAt, { do: 'change', event, fields });
  if (chance.is(isHeldBySink ? 0.9 : 0.5)) situation.ask(worseAt + 6, 'billing', 'approve', event);
  situation.ask(worseAt + 7, 'billing', 'release', event);
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

/** A yes comes by the topic before the bridges have read its event, and they start again before that. */
function yesBeforeEvent(situation: Situation): void {
  const { chance, settings, machine, names } = situation;
  const { group, required } = settings.approvals;
  const EventType = situation.waitingImpact();
  // In a group without a leader, each other bridge would post it.
  const isAlone = group.submit === 'leader';
  const late = isAlone ? [machine] : [...names.keys()];
  const event = situation.schedule(0, { EventType, notice: '120s', Resources: late.map(machineName) });
  for (const each of late) situation.at(-1, { do: 'metadata', machine: each, fault: 'page', forMs: 10 * SECOND });
  situation.at(1, { do: 'tell', act: 'approve', event });
  if (chance.is(0.8)) for (const each of late) situation.at(4, { do: 'kill', machine: each, downMs: SECOND });
  if (required === 'any') return;
  for (const as of required === 'all' ? ['orders', 'billing', 'operator'] : ['operator'])
    situation.ask(14, as, 'approve', event);
}

/** Documents without the events come before entries that cannot be read, or after them; then a restart, and the end. */
function unreadableEntries(situation: Situation): void {
  const { machine, chance } = situation;
  const events = [0, 0.1].map((seconds) =>
    situation.schedule(seconds, { EventType: chance.one(['Preempt', 'Terminate']), notice: '240s' }),
  );
  const [first, second] = chance.is(0.7)
    ? (['empty', 'statusless-entries'] as const)
    : (['nameless-entries', 'empty'] as const);
  situation.at(5, { do: 'metadata', machine, fault: first, forMs: 5 * SECOND });
  situation.at(10, { do: 'metadata', machine, fault: second, forMs: 14 * SECOND });
  // The next process reads nothing but the end, so it must have stored what the documents before have shown.
  const isRestarted = chance.is(0.8);
  if (isRestarted) situation.at(22, { do: 'kill', machine, downMs: 3 * SECOND });
  const endedAt = isRestarted ? 23 : chance.between(12, 30);
  for (const event of events) situation.at(endedAt, { do: 'cancel', event });
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
