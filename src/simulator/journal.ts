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

/** Keeps the last 10,000 requests. */
export class RequestJournal {
  #requests: JournalledRequest[] = [];

  add(request: JournalledRequest): void {
    this.#requests.push({ ...request, body: request.body.slice(0, BODY_LENGTH) });
    // Cut by the half, so that a long run does not move the whole list with each request.
    if (this.#requests.length >= 2 * LONGEST) this.#requests = this.#requests.slice(-LONGEST);
  }

  /** Oldest first. */
  requests(): readonly JournalledRequest[] {
    return this.#requests.slice(-LONGEST);
  }
}
