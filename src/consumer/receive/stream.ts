// GET /v1/stream of a bridge → handlers, in order; it resumes by position over every break.
import { messageOf } from '../../errors.ts';
import { sleep } from '../../time/clock.ts';
import { baseOf, bearerOf } from '../approve/approval-http.ts';
import type { Clock } from '../clock.ts';
import { ConsumerError } from '../consumer-error.ts';
import type { CloudEvent } from '../event.ts';
import { readJson, readStructured } from '../read-event.ts';
import type { Dispatcher, DispatcherOptions } from './dispatcher.ts';
import type { Handlers } from './handlers.ts';
import { SseParser } from './sse-parser.ts';
import { StreamConnection } from './stream-connection.ts';

interface StreamSettings {
  /** Of the bridge's `http.listen`; a path before `/v1/` may be part of it. */
  readonly url: string;
  /** A reader's; not needed at a loopback address. A function is asked at each connection. */
  readonly token?: string | (() => string | Promise<string>);
  /** True: `http://` beyond loopback, where anyone on the way reads the token. */
  readonly allowInsecure?: boolean;
  /** PEM of the authority that signed the bridge's certificate, where the machine does not know it. */
  readonly ca?: string;
  /** The position to go on behind, as `onPosition` told it; 0: all that is kept. From now on where absent. */
  readonly after?: number;
  readonly changes?: readonly string[];
  readonly impacts?: readonly string[];
  readonly resources?: readonly string[];
  /** All up to this position is handled: keep it where it outlives the process. Must not throw. */
  readonly onPosition?: (position: number) => void;
  /** Told of each break, failed handler and gap; a gap has code `pruned`, and all that is kept comes then. A warning of the process where absent. */
  readonly onError?: (error: unknown, event: CloudEvent | null) => void;
}

/** Handlers of its own, or a dispatcher that it shares. */
export type StreamOptions = StreamSettings &
  (
    | (DispatcherOptions & { readonly handlers: Handlers; readonly dispatcher?: never })
    | { readonly dispatcher: Dispatcher; readonly handlers?: never }
  );

export interface StreamConsumer {
  /** All up to it is handled; null before the first connection. */
  readonly position: number | null;
  /** Ends the connection and tells the handlers; resolves once they have ended. Again is harmless. */
  close(): Promise<void>;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** Connects at once. @throws ConsumerError `usage` for a URL that is not valid, or one that would expose the token */
export function streamOn(options: StreamOptions, dispatcher: Dispatcher, clock: Clock): StreamConsumer {
  const reader = new StreamReader(options, dispatcher, clock);
  const ended = reader.readUntilClosed();
  return {
    get position() {
      return reader.position;
    },
    close: async () => {
      reader.close();
      await Promise.all([ended, options.dispatcher === undefined ? dispatcher.close() : null]);
    },
  };
}

/** A handler failed, which `onError` was called with, together with its event. */
const HANDLER_FAILED = Symbol('handler failed');

/** The stream over all its connections. */
class StreamReader {
  readonly #options: StreamSettings;
  readonly #url: URL;
  readonly #dispatcher: Dispatcher;
  readonly #clock: Clock;
  readonly #onError: NonNullable<StreamSettings['onError']>;
  readonly #closing = new AbortController();
  #position: number | null;

  constructor(options: StreamSettings, dispatcher: Dispatcher, clock: Clock) {
    this.#options = options;
    this.#url = new URL(`v1/stream${queryOf(options)}`, baseOf(options));
    this.#dispatcher = dispatcher;
    this.#clock = clock;
    this.#onError = options.onError ?? warn;
    this.#position = options.after ?? null;
  }

  get position(): number | null {
    return this.#position;
  }

  close(): void {
    this.#closing.abort();
  }

  /** Connects again after each break, with back-off. Never rejects, unless `onError` throws. */
  async readUntilClosed(): Promise<void> {
    const { signal } = this.#closing;
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const before = this.#position;
      try {
        await this.#readOneConnection();
      } catch (error) {
        if (signal.aborted) return;
        this.#report(error);
      }
      if (this.#position !== before) pauseMs = FIRST_PAUSE_MS;
      await sleep(this.#clock, pauseMs * (0.5 + this.#clock.random() / 2), signal).catch(() => {});
    }
  }

  #report(error: unknown): void {
    if (error !== HANDLER_FAILED) this.#onError(error, null);
    // All that is kept is read then.
    if (error instanceof ConsumerError && error.code === 'pruned') this.#position = 0;
  }

  async #readOneConnection(): Promise<void> {
    const headers = await this.#headers();
    // It may have been closed while it waited for its token.
    this.#closing.signal.throwIfAborted();
    const connection = new StreamConnection(this.#url, headers, this.#options.ca, this.#clock);
    const close = () => connection.close();
    this.#closing.signal.addEventListener('abort', close, { once: true });
    try {
      const { position, pieces } = await connection.answer();
      this.#position ??= position;
      await this.#handleAll(pieces);
    } catch (error) {
      throw error === HANDLER_FAILED ? error : connection.faultOf(error);
    } finally {
      this.#closing.signal.removeEventListener('abort', close);
      connection.close();
    }
  }

  async #headers(): Promise<Readonly<Record<string, string>>> {
    const { token } = this.#options;
    const bearer = token === undefined ? {} : { authorization: bearerOf(typeof token === 'string' ? token : await token()) };
    return { ...bearer, ...(this.#position !== null && { 'last-event-id': String(this.#position) }) };
  }

  /** One event at a time: those behind one that failed wait, as its position is not passed. */
  async #handleAll(pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const parser = new SseParser();
    for await (const bytes of pieces) {
      for (const { id, data } of parser.take(bytes)) {
        if (data !== null) await this.#handle(data);
        if (id !== null) this.#reach(Number(id));
        this.#closing.signal.throwIfAborted();
      }
    }
  }

  async #handle(data: string): Promise<void> {
    const event = readStructured(readJson(Buffer.from(data), 'its data'), this.#dispatcher);
    try {
      await this.#dispatcher.handle(event);
    } catch (error) {
      this.#onError(error, event);
      throw HANDLER_FAILED;
    }
  }

  #reach(position: number): void {
    this.#position = position;
    this.#options.onPosition?.(position);
  }
}

function queryOf({ changes, impacts, resources }: StreamSettings): string {
  const given = Object.entries({ changes, impacts, resources }).flatMap(([name, values]) =>
    values ? [[name, values.join(',')] as const] : [],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(given))}`;
}

function warn(error: unknown, event: CloudEvent | null): void {
  process.emitWarning(`${event === null ? 'the stream' : `the event ${event.id}`}: ${messageOf(error)}`, 'ScheduledEventsConsumer');
}
