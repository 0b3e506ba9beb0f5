// Requests and time → whether the service is on, and when it answers (protocol 1.4, `--strict`).
// It is off at first and after 24 h without requests, and updates its document once a minute.
import type { View } from './view.ts';

const MINUTE_MS = 60_000;
/** The longest time that a first answer can take. */
const FIRST_ANSWER_MS = 2 * MINUTE_MS;
const EVENTS_SHOW_MS = 5 * MINUTE_MS;
/** A change is visible up to this much later, as in two captures (F-100). */
const DOCUMENT_EVERY_MS = MINUTE_MS;
const SILENCE_MS = 24 * 60 * MINUTE_MS;

/**
 * The service's state for a whole group: a request of any machine switches it on for all. Times are simulated
 * milliseconds.
 */
export class Activation {
  readonly #view: View;
  readonly #strict: boolean;
  #isOn: boolean;
  /** The time of the first request; null unless the service is being switched on. */
  #enabledAtMs: number | null = null;
  #lastAskedMs: number | null = null;
  /** Null while no events are shown, and if each change is shown at once. */
  #documentDueMs: number | null = null;

  /**
   * @param strict true: the first request switches the service on, 24 hours without requests switch it off, and the
   * document is updated once a minute. False: the service is on from the start, goes off only by an order, and each
   * change is shown at once.
   */
  constructor(view: View, strict: boolean) {
    this.#view = view;
    this.#strict = strict;
    this.#isOn = !strict;
    if (strict) view.show(false);
  }

  /** `enabling` until events are shown. */
  get state(): 'off' | 'enabling' | 'on' {
    if (!this.#isOn) return 'off';
    return this.#enabledAtMs === null ? 'on' : 'enabling';
  }

  /** When events will be shown; null if they are shown already, and before the first request. */
  get eventsFromMs(): number | null {
    return this.#enabledAtMs === null ? null : this.#enabledAtMs + EVENTS_SHOW_MS;
  }

  /** Call it at each request for the document. Returns the time of the answer, or null for at once. */
  onRequest(nowMs: number): number | null {
    this.#lastAskedMs = nowMs;
    if (!this.#isOn) {
      this.#isOn = true;
      this.#enabledAtMs = nowMs;
      this.#view.setIncarnation(1);
    }
    const firstAnswerMs = (this.#enabledAtMs ?? Number.NEGATIVE_INFINITY) + FIRST_ANSWER_MS;
    return firstAnswerMs > nowMs ? firstAnswerMs : null;
  }

  switchOff(): void {
    this.#isOn = false;
    this.#enabledAtMs = null;
    this.#lastAskedMs = null;
    this.#documentDueMs = null;
    this.#view.show(false);
  }

  nextDueMs(): number | null {
    const moments = [this.eventsFromMs, this.#silentFromMs(), this.#documentDueMs].filter((ms) => ms !== null);
    return moments.length === 0 ? null : Math.min(...moments);
  }

  runDue(atMs: number): void {
    const { eventsFromMs } = this;
    const silentFromMs = this.#silentFromMs();
    if (eventsFromMs !== null && eventsFromMs <= atMs) {
      this.#enabledAtMs = null;
      this.#view.show(true);
      if (this.#strict) this.#documentDueMs = atMs;
    } else if (silentFromMs !== null && silentFromMs <= atMs) this.switchOff();
  }

  /** Call it last for each point in time, so that the document has everything that happened then. */
  runDocumentDue(atMs: number): void {
    if (this.#documentDueMs === null || this.#documentDueMs > atMs) return;
    this.#documentDueMs = atMs + DOCUMENT_EVERY_MS;
    this.#view.takeSnapshot();
  }

  /** Null while the service is being switched on. */
  #silentFromMs(): number | null {
    return this.#strict && this.#enabledAtMs === null && this.#lastAskedMs !== null
      ? this.#lastAskedMs + SILENCE_MS
      : null;
  }
}
