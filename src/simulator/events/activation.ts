// Requests and time → whether the service is on, as `--strict` plays it (protocol 1.4).
// Off at first and after 24 h of silence, slow to come back; its document is made again once a minute.
import type { View } from './view.ts';

const MINUTE_MS = 60_000;
/** The first answer takes as long as it may. */
const FIRST_ANSWER_MS = 2 * MINUTE_MS;
const EVENTS_SHOW_MS = 5 * MINUTE_MS;
/** As two captures show: a change is seen up to so much later (F-100). */
const DOCUMENT_EVERY_MS = MINUTE_MS;
const SILENCE_MS = 24 * 60 * MINUTE_MS;

/** Of the whole group: each of its machines' requests switches the service on for all. Simulated milliseconds. */
export class Activation {
  readonly #view: View;
  readonly #strict: boolean;
  #isOn: boolean;
  /** The first request's moment; null while nothing is left to wait for. */
  #enabledAtMs: number | null = null;
  #lastAskedMs: number | null = null;
  /** Null while no events show, and where each change shows at once. */
  #documentDueMs: number | null = null;

  /**
   * @param strict switched on by the first request and off by silence, with a new document once a minute; without it, on from the start, switched off
   * by order alone, with a new document for each change
   */
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

  /** When events begin to show; null where they do, or before the first request. */
  get eventsFromMs(): number | null {
    return this.#enabledAtMs === null ? null : this.#enabledAtMs + EVENTS_SHOW_MS;
  }

  /** A request for the document. Returns the moment at which it is answered; null for at once. */
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

  /** To be called when all else of a moment has happened, which is in the document then. */
  runDocumentDue(atMs: number): void {
    if (this.#documentDueMs === null || this.#documentDueMs > atMs) return;
    this.#documentDueMs = atMs + DOCUMENT_EVERY_MS;
    this.#view.takeSnapshot();
  }

  /** None while it is being switched on. */
  #silentFromMs(): number | null {
    return this.#strict && this.#enabledAtMs === null && this.#lastAskedMs !== null ? this.#lastAskedMs + SILENCE_MS : null;
  }
}
