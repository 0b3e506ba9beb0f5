// Metadata requests, answers and their outcomes → the journal that tests read.

const LONGEST = 10_000;
/** Characters kept of each body; a StartRequest has a few dozen. */
const BODY_LENGTH = 16 * 1024;

/**
 * How an answer ended: sent whole; reset or truncated by a fault; or the client disconnected before it had all of it.
 */
export type AnswerOutcome = 'answered' | 'reset' | 'truncated' | 'gave-up';

export interface JournalledRequest {
  /** Simulated time, RFC 3339. */
  readonly at: string;
  readonly vm: string;
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The first 16,384 characters. */
  readonly body: string;
  /** The status of the answer; null unless `outcome` is `answered`. */
  readonly status: number | null;
  /** How the answer ended; `waiting` until that is known. */
  readonly outcome: AnswerOutcome | 'waiting';
}

/** A request and its status, without time and outcome: the part that is the same at every poll. */
type RequestRecord = Omit<JournalledRequest, 'at' | 'outcome' | 'status'> & { readonly status: number };

/** Identifies a request of the journal, for `settle`. */
type RequestNumber = number & { readonly journal: unique symbol };

const OUTCOMES = [
  'waiting',
  'answered',
  'reset',
  'truncated',
  'gave-up',
] as const satisfies readonly JournalledRequest['outcome'][];

/**
 * Keeps the last 10,000 requests, in a ring. Equal polls of a machine share one record, so hours of polling leave no
 * work for the garbage collector.
 */
export class RequestJournal {
  readonly #atMs = new Float64Array(LONGEST);
  readonly #outcomes = new Uint8Array(LONGEST);
  #records: RequestRecord[] = [];
  /** Requests since the start. */
  #count = 0;
  /** Requests that `clear` removed. */
  #cleared = 0;
  readonly #lastByMachine = new Map<string, RequestRecord>();
  readonly #listeners: (() => void)[] = [];

  /** @param atMs simulated */
  add(request: RequestRecord, outcome: JournalledRequest['outcome'], atMs: number): RequestNumber {
    const last = this.#lastByMachine.get(request.vm);
    const kept = last && isSame(last, request) ? last : { ...request, body: request.body.slice(0, BODY_LENGTH) };
    this.#lastByMachine.set(request.vm, kept);
    const entry = this.#count++ as RequestNumber;
    this.#atMs[entry % LONGEST] = atMs;
    this.#outcomes[entry % LONGEST] = OUTCOMES.indexOf(outcome);
    this.#records[entry % LONGEST] = kept;
    if (outcome !== 'waiting') this.#notify();
    return entry;
  }

  /** Sets the outcome of a request's answer; does nothing if the journal no longer has the request. */
  settle(entry: RequestNumber, outcome: AnswerOutcome): void {
    if (entry < this.#cleared || entry < this.#count - LONGEST) return;
    this.#outcomes[entry % LONGEST] = OUTCOMES.indexOf(outcome);
    this.#notify();
  }

  /** Calls `listener` each time the outcome of an answer becomes known. */
  onSettled(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  clear(): void {
    this.#records = [];
    this.#cleared = this.#count;
    this.#lastByMachine.clear();
  }

  /** Returns the last requests, oldest first. */
  requests(last: number = LONGEST): readonly JournalledRequest[] {
    const length = Math.min(last, this.#count - this.#cleared, LONGEST);
    return Array.from({ length: Math.max(0, length) }, (_, index) => {
      const slot = (this.#count - length + index) % LONGEST;
      const { status, ...record } = this.#records[slot] as RequestRecord;
      const outcome = OUTCOMES[this.#outcomes[slot] as number] ?? 'waiting';
      const at = new Date(this.#atMs[slot] as number).toISOString();
      return { at, ...record, status: outcome === 'answered' ? status : null, outcome };
    });
  }
}

function isSame(one: RequestRecord, other: RequestRecord): boolean {
  const { method, path, body, status } = other;
  return (
    one.status === status &&
    one.path === path &&
    one.method === method &&
    one.body === body &&
    hasSameHeaders(one.headers, other.headers)
  );
}

function hasSameHeaders(one: RequestRecord['headers'], other: RequestRecord['headers']): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
