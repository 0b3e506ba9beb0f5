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

type SimulatorDeps = Pick<Deps, 'wallMs' | 'elapsedMs' | 'random'>;

export interface SimulatorGroupOptions extends HostVersionOptions {
  readonly deps: SimulatorDeps;
  /**
   * The machines' names, at least one. Default: `sim_0`. A name that ends in `_` and digits is a member of a scale set.
   */
  readonly vms?: readonly string[];
  /** Simulated seconds per second. Default: 1. */
  readonly speed?: number;
  /** The delays and limits of the real service (protocol 1.4 and 1.7). Default: false. */
  readonly strict?: boolean;
  /** GPU machines in one fault domain: each sees only its own events (protocol 2.3). Default: false. */
  readonly gpu?: boolean;
  /** The clock in which NotBefore is listed. Default: `simulated`. */
  readonly notBefore?: NotBeforeClock;
  readonly scenarios?: readonly Script[];
}

/** The machines of one placement group and everything they share. */
export class Group {
  readonly machines: readonly Machine[];
  readonly strict: boolean;
  readonly gpu: boolean;
  /** Applies to events that are scheduled or moved from now on. */
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
  /** The URL of each machine's service, by name; empty for machines without a socket. */
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
    this.events = new EventStore(this.machines, deps.random, gpu, () =>
      this.notBefore === 'wall' ? this.clock.aheadMs() : 0,
    );
    this.activation = new Activation(this.events.view, strict);
    this.documents = new DocumentCache(this.events.view);
    this.player = new ScriptPlayer(this);
  }

  get first(): Machine {
    return this.machines[0] as Machine;
  }

  /**
   * Runs everything that became due since the last call, in order, each at its own time. What is due at the same time
   * makes one change. Every request calls it first, so nothing here needs a timer.
   * @returns the simulated time, in milliseconds since 1970
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

  /** The simulated time of the next change that happens by itself, or null if there is none. */
  nextDueMs(): number | null {
    const moments = [this.events.nextDueMs(), this.player.nextDueMs(), this.activation.nextDueMs()].filter(
      (ms) => ms !== null,
    );
    return moments.length === 0 ? null : Math.min(...moments);
  }

  /** Plays a script from now on and ends the running one. */
  play(script: Script): void {
    this.player.start(script, this.catchUp());
  }

  /** Removes all events, the script and the faults; keeps clock and journal. */
  reset(nowMs: number): void {
    this.player.stop();
    this.events.withdraw(nowMs);
    this.events.view.updateSnapshot();
    this.faults.order([], nowMs);
  }
}
