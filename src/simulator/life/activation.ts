// Requests and the passing of time → whether the service is on: off at first and after 24 h of silence, and slow to come back (reference 1.4).
import type { View } from './view.ts';

const MINUTE_MS = 60_000;
/** The first answer takes as long as it may. */
const FIRST_ANSWER_MS = 2 * MINUTE_MS;
const EVENTS_SHOW_MS = 5 * MINUTE_MS;
const SILENCE_MS = 24 * 60 * MINUTE_MS;

/** Of the whole group: each of its machines' requests switches the service on for all. Simulated milliseconds. */
export class Activation {
  readonly #view: View;
  readonly #strict: boolean;
  #isOn: boolean;
  /** The first request's moment; null while nothing is left to wait for. */
  #enabledAtMs: number | null = null;
  #lastAskedMs: number | null = null;

  /** @param strict switched on by the first request and off by silence; without it, on from the start and switched off by order alone */
  constructor(view: View, strict: boolean) {
    this.#view = view;
    this.#strict = strict;
    this.#isOn = !strict;
    if (strict) view.show(false);
  }

  /** `enabling` until events show. */
  get state(): 'off' | 'enabling' | 'on' {
    if (!this.#isOn) return 'off';
    return this.#enabledAtMs === null ? 'on' : 'enabling';
  }

  /** When events begin to show; null where they do, or where nobody has asked. */
  get eventsFromMs(): number | null {
    return this.#enabledAtMs === null ? null : this.#enabledAtMs + EVENTS_SHOW_MS;
  }

  /** A request for the document. Returns the moment at which it is answered; null for at once. */
  ask(nowMs: number): number | null {
    this.#lastAskedMs = nowMs;
    if (!this.#isOn) {
      this.#isOn = true;
      this.#enabledAtMs = nowMs;
      this.#view.countFrom(1);
    }
    const firstAnswerMs = (this.#enabledAtMs ?? Number.NEGATIVE_INFINITY) + FIRST_ANSWER_MS;
    return firstAnswerMs > nowMs ? firstAnswerMs : null;
  }

  switchOff(): void {
    this.#isOn = false;
    this.#enabledAtMs = null;
    this.#lastAskedMs = null;
    this.#view.show(false);
  }

  nextDueMs(): number | null {
    if (this.#enabledAtMs !== null) return this.#enabledAtMs + EVENTS_SHOW_MS;
    return this.#strict && this.#lastAskedMs !== null ? this.#lastAskedMs + SILENCE_MS : null;
  }

  runDue(atMs: number): void {
    const dueMs = this.nextDueMs();
    if (dueMs === null || dueMs > atMs) return;
    if (this.#enabledAtMs === null) {
      this.switchOff();
    } else {
      this.#enabledAtMs = null;
      this.#view.show(true);
    }
  }
}
