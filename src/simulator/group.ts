// The machines that see the same events → what they share: clock, events, faults, journal and scenario, kept up to the simulated time.
import type { Deps } from '../time.ts';
import { VirtualClock } from './clock.ts';
import { EventStore } from './event-store.ts';
import { Faults } from './faults.ts';
import { RequestJournal } from './journal.ts';
import { ScenarioPlayer } from './scenarios.ts';

/** What the simulator takes of time and chance. */
export type SimulatorDeps = Pick<Deps, 'wallMs' | 'elapsedMs' | 'random'>;

export class Group {
  /** Names, at least one. */
  readonly vms: readonly string[];
  readonly clock: VirtualClock;
  readonly events: EventStore;
  readonly scenarios: ScenarioPlayer;
  readonly faults = new Faults();
  readonly journal = new RequestJournal();

  constructor(vms: readonly string[], speed: number, deps: SimulatorDeps) {
    this.vms = vms;
    this.clock = new VirtualClock(deps, speed);
    this.events = new EventStore(vms, deps.random);
    this.scenarios = new ScenarioPlayer(this.events);
  }

  /**
   * Lets happen all that fell due since the last call, each at its own moment and in order; what falls due at one moment is one change.
   * Every request begins with it, which is why nothing here needs a timer. Returns the simulated time.
   */
  catchUp(): number {
    const nowMs = this.clock.nowMs();
    for (let dueMs = this.#nextDueMs(); dueMs !== null && dueMs <= nowMs; dueMs = this.#nextDueMs()) {
      const momentMs = dueMs;
      this.events.together(() => {
        this.events.runDue(momentMs);
        this.scenarios.runDue(momentMs);
      });
    }
    return nowMs;
  }

  #nextDueMs(): number | null {
    const moments = [this.events.nextDueMs(), this.scenarios.nextDueMs()].filter((ms) => ms !== null);
    return moments.length === 0 ? null : Math.min(...moments);
  }
}
