// Requests to the metadata routes and their answers → the journal that tests read back.

const LONGEST = 10_000;
const SPARE = 1000;
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

type Kept = Omit<JournalledRequest, 'at'> & { readonly atMs: number };

/** Keeps the last 10,000 requests. */
export class RequestJournal {
  #requests: Kept[] = [];
  /** The last one's of each machine: a client sends the same headers again and again, and they are kept once. */
  readonly #headers = new Map<string, Kept['headers']>();
  readonly #listeners: (() => void)[] = [];

  /** @param request with `atMs` in simulated milliseconds */
  add({ atMs, vm, method, path, headers, body, status }: Kept): void {
    const last = this.#headers.get(vm);
    const kept = last && isSame(last, headers) ? last : headers;
    this.#headers.set(vm, kept);
    this.#requests.push({ atMs, vm, method, path, headers: kept, body: body.slice(0, BODY_LENGTH), status });
    // Cut now and then, so that a long run does not move the whole list with each request.
    if (this.#requests.length >= LONGEST + SPARE) this.#requests = this.#requests.slice(-LONGEST);
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` after each request. */
  onAdd(listener: () => void): void {
    this.#listeners.push(listener);
  }

  clear(): void {
    this.#requests = [];
  }

  /** The last ones, oldest first. */
  requests(last: number = LONGEST): readonly JournalledRequest[] {
    if (last <= 0) return [];
    return this.#requests.slice(-Math.min(last, LONGEST)).map(({ atMs, ...request }) => ({ at: new Date(atMs).toISOString(), ...request }));
  }
}

function isSame(one: Kept['headers'], other: Kept['headers']): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
