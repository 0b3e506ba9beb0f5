// Requests to the metadata routes and their answers → the journal that tests read back.

const LONGEST = 10_000;
/** Characters of a body that are kept; a StartRequest has some dozens. */
const BODY_LENGTH = 16 * 1024;

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
  /** Null where the connection was reset instead. */
  readonly status: number | null;
}

type Asked = Omit<JournalledRequest, 'at'>;

/**
 * Keeps the last 10,000 requests, in a ring. A client asks the same again and again, and gets the same status: that is kept once, so that hours
 * of polls leave nothing behind for the garbage collector.
 */
export class RequestJournal {
  readonly #atMs = new Float64Array(LONGEST);
  #asked: Asked[] = [];
  /** So many came since the beginning. */
  #count = 0;
  /** By machine. */
  readonly #last = new Map<string, Asked>();
  readonly #listeners: (() => void)[] = [];

  /** @param atMs simulated */
  add(request: Asked, atMs: number): void {
    const last = this.#last.get(request.vm);
    const kept = last && isSame(last, request) ? last : { ...request, body: request.body.slice(0, BODY_LENGTH) };
    this.#last.set(request.vm, kept);
    this.#atMs[this.#count % LONGEST] = atMs;
    this.#asked[this.#count % LONGEST] = kept;
    this.#count++;
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` after each request. */
  onAdd(listener: () => void): void {
    this.#listeners.push(listener);
  }

  clear(): void {
    this.#asked = [];
    this.#count = 0;
    this.#last.clear();
  }

  /** The last ones, oldest first. */
  requests(last: number = LONGEST): readonly JournalledRequest[] {
    const length = Math.min(last, this.#count, LONGEST);
    return Array.from({ length: Math.max(0, length) }, (_, index) => {
      const place = (this.#count - length + index) % LONGEST;
      return { at: new Date(this.#atMs[place] as number).toISOString(), ...(this.#asked[place] as Asked) };
    });
  }
}

function isSame(one: Asked, other: Asked): boolean {
  const { method, path, body, status } = other;
  return (
    one.status === status && one.path === path && one.method === method && one.body === body && hasSameHeaders(one.headers, other.headers)
  );
}

function hasSameHeaders(one: Asked['headers'], other: Asked['headers']): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
