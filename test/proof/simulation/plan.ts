// A seed and a number → a history: settings, events, faults and acts of people, at random.
import { Chance, guidOf } from './chance.ts';
import {
  type Act,
  type EventOrder,
  type History,
  KILL_MOMENTS,
  METADATA_FAULTS,
  machineName,
  SINK_TROUBLES,
  type Step,
} from './history.ts';
import { withExtras } from './planned-extras.ts';
import { otherSettings, plannedSettings } from './planned-settings.ts';
import { plannedStartMs } from './planned-terms.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

const TYPES = [
  'Freeze',
  'Freeze',
  'Reboot',
  'Reboot',
  'Redeploy',
  'Preempt',
  'Terminate',
  'SpotRebalanceRecommendation',
];
const DURATIONS = [-1, 0, 5, 9, 30, 600];

/** Every history begins with some quiet seconds: the bridges have read a document then. */
const FIRST_MS = 5 * SECOND;

export function plannedHistory(seed: number, world: number): History {
  return withExtras(new Plan(seed, world).history());
}

class Plan {
  readonly #seed: number;
  readonly #world: number;
  readonly #chance: Chance;
  readonly #machines: number;
  readonly #steps: Step[] = [];
  #lastMs = 0;

  constructor(seed: number, world: number) {
    this.#seed = seed;
    this.#world = world;
    this.#chance = new Chance(seed, world, 'plan');
    this.#machines = this.#chance.one([1, 1, 1, 2, 2, 3, 3, 4, 5]);
  }

  history(): History {
    const chance = this.#chance;
    const startMs = plannedStartMs(chance);
    const first = plannedSettings(chance, this.#machines, startMs);
    const settings = [first, ...Array.from({ length: 3 }, () => otherSettings(chance, first, this.#machines, startMs))];
    this.#events();
    this.#faults(Object.keys(first.sinks));
    this.#people(settings.length);
    return {
      seed: this.#seed,
      world: this.#world,
      machines: this.#machines,
      startMs,
      settings,
      steps: this.#steps.toSorted((one, other) => one.atMs - other.atMs),
    };
  }

  #events(): void {
    const chance = this.#chance;
    const bursts = chance.between(10, 22);
    let atMs = FIRST_MS;
    let number = 0;
    for (let burst = 0; burst < bursts; burst++) {
      const count = chance.is(0.75) ? 1 : chance.between(2, 6);
      for (let i = 0; i < count; i++) this.#event(`e${number++}`, atMs);
      atMs += chance.between(SECOND, 40 * SECOND);
    }
    this.#lastMs = atMs;
  }

  #event(event: string, atMs: number): void {
    const chance = this.#chance;
    const names = Array.from({ length: this.#machines }, (_, index) => machineName(index));
    const noticeMs = chance.between(10, 240) * SECOND;
    const fields: EventOrder = {
      EventType: chance.one(TYPES),
      EventSource: chance.one(['Platform', 'Platform', 'User']),
      Resources: this.#resources(names),
      DurationInSeconds: chance.one(DURATIONS),
      notice: `${noticeMs / SECOND}s`,
      startedFor: `${chance.between(2, 60)}s`,
      ...(chance.is(0.2) && { otherTenants: `${chance.between(1, 30)}s` }),
    };
    this.#add(atMs, { do: 'schedule', event, id: guidOf(this.#seed, this.#world, event), fields });
    const soon = () => atMs + chance.between(SECOND, noticeMs + 30 * SECOND);
    for (let changes = chance.one([0, 0, 0, 1, 1, 2]); changes > 0; changes--)
      this.#add(soon(), { do: 'change', event, fields: this.#change(names) });
    const fate = chance.next();
    if (fate < 0.15) this.#add(soon(), { do: 'cancel', event });
    else if (fate < 0.25) this.#add(soon(), { do: 'start', event });
    if (chance.is(0.2)) this.#add(soon() + 20 * SECOND, { do: 'end', event });
    this.#answers(event, atMs, noticeMs);
  }

  #resources(names: readonly string[]): readonly string[] {
    const chance = this.#chance;
    if (chance.is(0.05)) return [];
    const some = chance.some(names, 0.6);
    return some.length === 0 ? [chance.one(names)] : chance.is(0.2) ? some.toReversed() : some;
  }

  #change(names: readonly string[]): EventOrder {
    const chance = this.#chance;
    return chance.one<EventOrder>([
      { Description: `words number ${chance.between(0, 1000)}` },
      { DurationInSeconds: chance.one(DURATIONS) },
      { Resources: this.#resources(names) },
      { notice: `${chance.between(5, 240)}s` },
      { EventType: chance.one(TYPES) },
    ]);
  }

  /** What consumers and operators say of one event. */
  #answers(event: string, atMs: number, noticeMs: number): void {
    const chance = this.#chance;
    const machine = () => chance.between(0, this.#machines);
    const when = () => atMs + chance.between(SECOND / 2, noticeMs);
    for (const as of ['orders', 'billing', 'operator']) {
      if (chance.is(0.45)) {
        const seen = chance.is(0.5);
        const saidMs = when();
        this.#add(saidMs, { do: 'ask', machine: machine(), as, act: 'approve', event, seen });
        if (chance.is(0.3))
          this.#add(saidMs + chance.between(0, 3) * 40, {
            do: 'ask',
            machine: machine(),
            as,
            act: 'approve',
            event,
            seen,
          });
      }
      if (chance.is(0.12)) {
        const [on, heldMs] = [machine(), when()];
        this.#add(heldMs, { do: 'ask', machine: on, as, act: 'hold', event, seen: false });
        if (chance.is(0.7))
          this.#add(heldMs + chance.between(0, MINUTE), {
            do: 'ask',
            machine: on,
            as,
            act: 'release',
            event,
            seen: false,
          });
      }
    }
    if (chance.is(0.25)) this.#add(when(), { do: 'tell', act: 'approve', event });
    if (chance.is(0.08)) {
      const heldMs = when();
      this.#add(heldMs, { do: 'tell', act: 'hold', event });
      this.#add(heldMs + chance.between(SECOND, MINUTE), { do: 'tell', act: 'release', event });
    }
  }

  #faults(sinks: readonly string[]): void {
    const chance = this.#chance;
    const any = () => chance.between(FIRST_MS, this.#lastMs + MINUTE);
    const times = (most: number) => chance.between(0, most + 1);
    const downMs = () => chance.one([0, SECOND, chance.between(0, 90 * SECOND)]);
    for (let machine = 0; machine < this.#machines; machine++) {
      for (let n = times(8); n > 0; n--)
        this.#add(any(), { do: 'metadata', machine, fault: chance.one(METADATA_FAULTS), forMs: this.#outage() });
      for (let n = times(8); n > 0; n--) {
        const sink = chance.one(sinks);
        const drawn = chance.one(SINK_TROUBLES);
        // What the first sink refused nobody could compare.
        const trouble = sink === 'audit' && drawn === 'refusing' ? 'failing' : drawn;
        this.#add(any(), { do: 'sink', machine, sink, trouble, forMs: this.#span(90) });
      }
      for (let n = times(2); n > 0; n--) this.#add(any(), { do: 'kill', machine, downMs: downMs() });
      for (let n = times(4); n > 0; n--)
        this.#add(any(), {
          do: 'kill-at',
          machine,
          moment: chance.one(KILL_MOMENTS),
          nth: chance.between(1, 5),
          downMs: downMs(),
        });
      for (let n = times(1); n > 0; n--) this.#add(any(), { do: 'stop', machine, downMs: downMs() });
      if (chance.is(0.4)) this.#add(any(), { do: 'freeze', machine, forMs: this.#span(60) });
      if (chance.is(0.4)) this.#add(any(), { do: 'jump', machine, byMs: chance.between(-300, 300) * SECOND });
      if (chance.is(0.4)) this.#add(any(), { do: 'disk-full', machine, forMs: this.#span(30) });
      for (let n = times(1); n > 0; n--) {
        const sink = chance.one(sinks);
        const atMs = any();
        this.#add(atMs, { do: 'command', machine, act: 'pause', sink });
        this.#add(atMs + this.#span(60), { do: 'command', machine, act: 'resume', sink });
      }
    }
    for (let n = chance.one([0, 0, 1, 2]); n > 0; n--)
      this.#add(any(), { do: 'service-restart', emptyMs: chance.one([0, this.#span(40)]) });
  }

  #people(settings: number): void {
    const chance = this.#chance;
    for (let n = chance.between(0, 4); n > 0; n--)
      this.#add(chance.between(FIRST_MS, this.#lastMs), {
        do: 'settings',
        machine: chance.between(0, this.#machines),
        use: chance.between(0, settings),
      });
    for (let machine = 0; machine < this.#machines; machine++)
      if (chance.is(0.2)) this.#holdOfAll(machine, chance.between(FIRST_MS, this.#lastMs));
    if (chance.is(0.3))
      this.#add(chance.between(FIRST_MS, this.#lastMs), { do: 'drill', machine: chance.between(0, this.#machines) });
  }

  /** An operator holds everything on one machine, and mostly ends that. */
  #holdOfAll(machine: number, atMs: number): void {
    const hold = { do: 'ask', machine, as: 'operator', event: '*', seen: false } as const;
    this.#add(atMs, { ...hold, act: 'hold' });
    if (this.#chance.is(0.8)) this.#add(atMs + this.#span(240), { ...hold, act: 'release' });
  }

  /** Of the metadata service: mostly short, sometimes long enough to be blind. */
  #outage(): number {
    return this.#chance.is(0.15) ? this.#chance.between(60, 200) * SECOND : this.#span(30);
  }

  /** At most so many seconds, short ones more often. */
  #span(seconds: number): number {
    return Math.ceil(this.#chance.next() * this.#chance.next() * seconds * SECOND);
  }

  #add(atMs: number, act: Act): void {
    this.#steps.push({ atMs: Math.round(atMs), ...act });
  }
}
