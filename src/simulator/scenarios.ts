// A scenario's name → its steps, played on the simulated clock.
import type { EventFields } from './event.ts';
import { type EventStore, isRefusal } from './event-store.ts';

/** What happens, so long after the scenario's start. */
export interface ScenarioStep {
  readonly afterMs: number;
  readonly schedule: EventFields;
}

export interface Scenario {
  readonly name: string;
  /** One line: what it is for. */
  readonly purpose: string;
  /** In the order of their times. */
  readonly steps: readonly ScenarioStep[];
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'demo',
    purpose: 'a live migration: 15 min of notice, starts when approved, gone 10 min after its start',
    steps: [{ afterMs: 0, schedule: { EventType: 'Freeze', EventSource: 'Platform', DurationInSeconds: 5 } }],
  },
];

/** The scenarios that can be played. */
export function listScenarios(): readonly Pick<Scenario, 'name' | 'purpose'>[] {
  return SCENARIOS.map(({ name, purpose }) => ({ name, purpose }));
}

interface Run {
  readonly scenario: Scenario;
  readonly startedAtMs: number;
  nextStep: number;
  readonly eventIds: string[];
}

/** Plays one scenario at a time. */
export class ScenarioPlayer {
  readonly #events: EventStore;
  #run: Run | null = null;

  constructor(events: EventStore) {
    this.#events = events;
  }

  list(): readonly { readonly name: string; readonly purpose: string; readonly running: boolean }[] {
    return listScenarios().map((scenario) => ({ ...scenario, running: this.#isRunning(scenario.name) }));
  }

  /** In the place of a running one, whose steps are dropped and whose events are withdrawn. False where there is no such scenario. */
  start(name: string, atMs: number): boolean {
    const scenario = SCENARIOS.find((candidate) => candidate.name === name);
    if (!scenario) return false;
    this.#events.together(() => {
      this.#events.withdraw(this.#run?.eventIds ?? []);
      this.#run = { scenario, startedAtMs: atMs, nextStep: 0, eventIds: [] };
      this.runDue(atMs);
    });
    return true;
  }

  /** Drops the running one's steps; its events stay. */
  stop(): void {
    this.#run = null;
  }

  /** When the next step is due; null where none is. */
  nextDueMs(): number | null {
    const step = this.#run?.scenario.steps[this.#run.nextStep];
    return this.#run && step ? this.#run.startedAtMs + step.afterMs : null;
  }

  /** Takes the steps that are due at `atMs`. */
  runDue(atMs: number): void {
    for (let dueMs = this.nextDueMs(); this.#run && dueMs !== null && dueMs <= atMs; dueMs = this.nextDueMs()) {
      const step = this.#run.scenario.steps[this.#run.nextStep++] as ScenarioStep;
      const event = this.#events.schedule(step.schedule, dueMs);
      if (!isRefusal(event)) this.#run.eventIds.push(event.EventId);
    }
  }

  /** While a step is still to come or one of its events is listed. */
  #isRunning(name: string): boolean {
    if (this.#run?.scenario.name !== name) return false;
    return this.nextDueMs() !== null || this.#run.eventIds.some((id) => this.#events.has(id));
  }
}
