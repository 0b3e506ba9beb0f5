// Machines → their shared clock, events, faults, journal, service and script.
import type { Deps } from '../time/clock.ts';
import { Activation } from './events/activation.ts';
import type { NotBeforeClock } from './events/event.ts';
import { EventStore } from './events/event-store.ts';
import { Faults } from './events/faults.ts';
import { type Machine, machinesOf } from './events/machine.ts';
import { VirtualClock } from './events/virtual-clock.ts';
import { RequestJournal } from './journal.ts';
import { DocumentCache } from './metadata/document.ts';
import { type HostVersionOptions, type HostVersions, hostVersions } from './metadata/metadata-versions.ts';
import type { Script } from './script/script.ts';
import { ScriptPlayer } from './script/script-player.ts';

/** What the simulator takes of time and chance. */
type SimulatorDeps = Pick<Deps, 'wallMs' | 'elapsedMs' | 'random'>;

export interface SimulatorGroupOptions extends HostVersionOptions {
  readonly deps: SimulatorDeps;
  /** Names, at least one; `sim_0` by default. One that ends in `_` and digits is a scale set's member. */
  readonly vms?: readonly string[];
  /** Simulated seconds a second; 1 by default. */
  readonly speed?: number;
  /** A slow first answer, events after five minutes, a new document once a minute, switched off after a day of silence, 5 requests a second. */
  readonly strict?: boolean;
  /** GPU machines with one fault domain: each sees its own events alone (protocol 2.3). */
  readonly gpu?: boolean;
  /** By which clock a NotBefore is listed; `simulated` by default. */
  readonly notBefore?: NotBeforeClock;
  /** Those that can be started by name. */
  readonly scenarios?: readonly Script[];
}

export class Group {
  readonly machines: readonly Machine[];
  readonly strict: boolean;
  readonly gpu: boolean;
  /** Holds for events that are scheduled or moved from now on. */
  notBefore: NotBeforeClock;
  readonly versions: HostVersions;
  readonly clock: VirtualClock;
  readonly events: EventStore;
  readonly activation: Activation;
  readonly documents: DocumentCache;
  readonly player: ScriptPlayer;
  readonly scenarios: readonly Script[];
  readonly faults = new Faults();
  readonly journal = new RequestJournal();
  /** Where each machine answers, by name; of one without a socket nothing is known. */
  readonly urls = new Map<string, string>();

  constructor({
    deps,
    vms = ['sim_0'],
    speed = 1,
    strict = false,
    gpu = false,
    notBefore = 'simulated',
    scenarios = [],
    ...host
  }: SimulatorGroupOptions) {
    this.machines = machinesOf(vms, gpu);
    this.strict = strict;
    this.gpu = gpu;
    this.notBefore = notBefore;
    this.versions = hostVersions(host);
    this.scenarios = scenarios;
    this.clock = new VirtualClock(deps, speed);
    this.events = new EventStore(this.machines, deps.random, gpu, () => (this.notBefore === 'wall' ? this.clock.aheadMs() : 0));
    this.activation = new Activation(this.events.view, strict);
    this.documents = new DocumentCache(this.events.view);
    this.player = new ScriptPlayer(this);
  }

  get first(): Machine {
    return this.machines[0] as Machine;
  }

  /**
   * Lets happen all that fell due since the last call, each at its own moment and in order; what falls due at one moment is one change.
   * Every request begins with it, which is why nothing here needs a timer. Returns the simulated time.
   */
  catchUp(): number {
    const nowMs = this.clock.nowMs();
    for (let dueMs = this.nextDueMs(); dueMs !== null && dueMs <= nowMs; dueMs = this.nextDueMs()) {
      const momentMs = dueMs;
      this.events.view.asOneChange(() => {
        this.activation.runDue(momentMs);
        this.events.runDue(momentMs);
        this.player.runDue(momentMs);
        this.activation.runDocumentDue(momentMs);
      });
    }
    return nowMs;
  }

  /** The simulated moment at which something happens next by itself; null where nothing will. */
  nextDueMs(): number | null {
    const moments = [this.events.nextDueMs(), this.player.nextDueMs(), this.activation.nextDueMs()].filter((ms) => ms !== null);
    return moments.length === 0 ? null : Math.min(...moments);
  }

  /** Plays it from now on, in the place of a running one. */
  play(script: Script): void {
    this.player.start(script, this.catchUp());
  }

  /** No events, script or faults; clock and journal stay. */
  reset(nowMs: number): void {
    this.player.stop();
    this.events.withdraw(nowMs);
    this.events.view.updateSnapshot();
    this.faults.order([], nowMs);
  }
}
