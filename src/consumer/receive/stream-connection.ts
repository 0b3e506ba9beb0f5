// The address of a bridge's stream → one connection: the position it begins after, and its bytes.
import type { ClientRequest, IncomingMessage } from 'node:http';
import { messageOf } from '../../errors.ts';
import type { Clock } from '../clock.ts';
import { ConsumerError } from '../consumer-error.ts';

/** A bridge sends a comment every 15 s. */
const SILENT_MS = 45_000;

interface StreamAnswer {
  /** The position that the stream begins after. Null if a proxy has removed the header; the first `id:` has it then. */
  readonly position: number | null;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** One connection, which closes itself if no byte comes for 45 s. */
export class StreamConnection {
  readonly #request: ClientRequest;
  readonly #clock: Pick<Clock, 'after'>;
  #cancelTimer = () => {};
  #timeout: Error | null = null;

  /** Connects at once. */
  constructor(
    url: URL,
    headers: Readonly<Record<string, string>>,
    ca: string | undefined,
    clock: Pick<Clock, 'after'>,
  ) {
    this.#request = get(url, headers, ca);
    this.#clock = clock;
    this.#restartTimer();
  }

  /** @throws ConsumerError `refused`, `pruned` or `unreachable` */
  async answer(): Promise<StreamAnswer> {
    const response = await responseTo(this.#request);
    if (response.statusCode !== 200 || !isStream(response)) throw await refusalOf(response);
    return { position: beginningOf(response), pieces: this.#piecesOf(response) };
  }

  /** Returns what broke the connection. A ConsumerError passes unchanged. */
  faultOf(error: unknown): ConsumerError {
    // Node says only "aborted" if a connection breaks in the middle.
    return error instanceof ConsumerError ? error : broken(this.#timeout ?? error);
  }

  close(): void {
    this.#cancelTimer();
    this.#request.destroy();
  }

  async *#piecesOf(response: IncomingMessage): AsyncGenerator<Uint8Array> {
    for await (const bytes of response) {
      this.#restartTimer();
      yield bytes as Uint8Array;
      // The handlers may have taken long.
      this.#restartTimer();
    }
  }

  #restartTimer(): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.after(SILENT_MS, () => {
      this.#timeout = new Error(`no byte came for ${SILENT_MS / 1000} s`);
      this.#request.destroy(this.#timeout);
    });
  }
}

function get(url: URL, headers: Readonly<Record<string, string>>, ca: string | undefined): ClientRequest {
  if (url.protocol === 'http:') return process.getBuiltinModule('node:http').get(url, { headers, agent: false });
  return process.getBuiltinModule('node:https').get(url, { headers, agent: false, ...(ca !== undefined && { ca }) });
}

function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', (cause) => reject(broken(cause)));
  });
}

function broken(cause: unknown): ConsumerError {
  return new ConsumerError('unreachable', `the stream of the bridge broke: ${messageOf(cause)}`, { cause });
}

/** Returns false for the page of a proxy that answers 200, which would look like a stream without events. */
function isStream({ headers }: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

function beginningOf({ headers }: IncomingMessage): number | null {
  const position = String(headers['journal-position']);
  return /^\d+$/.test(position) ? Number(position) : null;
}

/** Returns the refusal. An answer that is not from a bridge, such as the page of a proxy, has no `type`. */
async function refusalOf(response: IncomingMessage): Promise<ConsumerError> {
  const status = response.statusCode ?? 0;
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text = `${text}${String(piece)}`.slice(0, 65_536);
  const { type, detail } = problemIn(text);
  const more = { status, ...(type !== undefined && { type }) };
  if (type === 'pruned' || type === 'position')
    return new ConsumerError(
      'pruned',
      `events are missing: ${detail ?? status}; reading all that the bridge keeps`,
      more,
    );
  const answer = status === 200 ? 'the answer is not a stream of a bridge; check for a proxy' : `it answered ${status}`;
  return new ConsumerError('refused', `the bridge refused the stream: ${detail ?? answer}; retrying`, more);
}

function problemIn(text: string): { readonly type?: string; readonly detail?: string } {
  try {
    const { type, detail } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return { ...(typeof type === 'string' && { type }), ...(typeof detail === 'string' && { detail }) };
  } catch {
    return {};
  }
}
