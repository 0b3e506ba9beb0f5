// Metadata requests, answers and their outcomes → the journal that tests read.

const LONGEST = 10_000;
/** Characters of a body that are kept; a StartRequest has some dozens. */
const BODY_LENGTH = 16 * 1024;

/** What became of an answer: handed over whole; broken off as ordered, before it or within its body; or its client was gone before it had all of it. */
export type AnswerOutcome = 'answered' | 'reset' | 'truncated' | 'gave-up';

export interface JournalledRequest {
  /** Simulated time, RFC 3339. */
  readonly at: string;
  readonly vm: string;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its first 16,384 characters. */
  readonly body: string;
  /** Null where the client did not get the whole answer: none of the outcomes but `answered`. */
  readonly status: number | null;
  /** What became of the answer; `waiting` until that is known. */
  readonly outcome: AnswerOutcome | 'waiting';
}

/** What is asked and answered again and again; the status whatever became of it. */
type RequestRecord = Omit<JournalledRequest, 'at' | 'outcome' | 'status'> & { readonly status: number };

/** Which request of the journal, for its `settle`. */
type RequestNumber = number & { readonly journal: unique symbol };

const OUTCOMES = ['waiting', 'answered', 'reset', 'truncated', 'gave-up'] as const satisfies readonly JournalledRequest['outcome'][];

/**
 * Keeps the last 10,000 requests, in a ring. A client asks the same again and again, and gets the same status: that is kept once, so that hours
 * of polls leave nothing behind for the garbage collector.
 */
export class RequestJournal {
  readonly #atMs = new Float64Array(LONGEST);
  readonly #outcomes = new Uint8Array(LONGEST);
  #records: RequestRecord[] = [];
  /** So many came since the beginning. */
  #count = 0;
  /** So many of them were cleared. */
  #cleared = 0;
  /** By machine. */
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

  /** Sets the outcome of a request's answer; does nothing where the request is no longer kept. */
  settle(entry: RequestNumber, outcome: AnswerOutcome): void {
    if (entry < this.#cleared || entry < this.#count - LONGEST) return;
    this.#outcomes[entry % LONGEST] = OUTCOMES.indexOf(outcome);
    this.#notify();
  }

  /** Calls `listener` each time an answer's outcome is known. */
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

  /** The last ones, oldest first. */
  requests(last: number = LONGEST): readonly JournalledRequest[] {
    const length = Math.min(last, this.#count - this.#cleared, LONGEST);
    return Array.from({ length: Math.max(0, length) }, (_, index) => {
      const slot = (this.#count - length + index) % LONGEST;
      const { status, ...asked } = this.#records[slot] as RequestRecord;
      const outcome = OUTCOMES[this.#outcomes[slot] as number] ?? 'waiting';
      const at = new Date(this.#atMs[slot] as number).toISOString();
      return { at, ...asked, status: outcome === 'answered' ? status : null, outcome };
    });
  }
}

function isSame(one: RequestRecord, other: RequestRecord): boolean {
  const { method, path, body, status } = other;
  return (
    one.status === status && one.path === path && one.method === method && one.body === body && hasSameHeaders(one.headers, other.headers)
  );
}

function hasSameHeaders(one: RequestRecord['headers'], other: RequestRecord['headers']): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
