// GET /v1/stream of a bridge → handlers, in order; it resumes by position after every break.
import { messageOf } from '../../errors.ts';
import { sleep } from '../../time/clock.ts';
import { baseOf, bearerOf } from '../approve/approval-http.ts';
import type { Clock } from '../clock.ts';
import { ConsumerError } from '../consumer-error.ts';
import type { CloudEvent } from '../event.ts';
import { readJson, readStructured } from '../read-event.ts';
import type { Dispatcher, HandledBy } from './dispatcher.ts';
import { SseParser } from './sse-parser.ts';
import { StreamConnection } from './stream-connection.ts';

interface StreamSettings {
  /** The URL of the bridge's `http.listen`, with any path before `/v1/`. */
  readonly url: string;
  /** A reader's token; not needed at a loopback address. A function is called at each connection. */
  readonly token?: string | (() => string | Promise<string>);
  /** True allows `http://` beyond loopback. Anyone on the network path can then read the token. */
  readonly allowInsecure?: boolean;
  /** The authority that signed the bridge's certificate, in PEM, if the machine does not trust it. */
  readonly ca?: string;
  /**
   * The position to resume after, from `onPosition`. 0: from the oldest event that is kept. If absent: from the next
   * event on.
   */
  readonly after?: number;
  /**
   * `listed`: without `after`, first the newest `scheduled`, `updated` or `started` of each event that the bridge
   * lists, then what follows.
   */
  readonly begin?: 'listed';
  readonly changes?: readonly string[];
  readonly impacts?: readonly string[];
  readonly resources?: readonly string[];
  /** Called when everything up to this position is handled. Store it to resume in another process. Must not throw. */
  readonly onPosition?: (position: number) => void;
  /**
   * Called for each break, failed handler, gap and event that is not a CloudEvent, which is passed. After a gap (code
   * `pruned`) all that is kept is read. If absent, the process emits a warning.
   */
  readonly onError?: (error: unknown, event: CloudEvent | null) => void;
}

export type StreamOptions = StreamSettings & HandledBy;

export interface StreamConsumer {
  /**
   * Everything up to this position is handled; null before the first connection and, with `begin`, before the first
   * event.
   */
  readonly position: number | null;
  /**
   * Closes the connection, and resolves once the handlers have ended. Its own dispatcher is closed, too. Safe to
   * repeat.
   */
  close(): Promise<void>;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Connects at once.
 * @throws ConsumerError `usage` if the URL is not valid, or would expose the token
 */
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

/** Thrown after `onError` was called for a handler that failed. */
const HANDLER_FAILED = Symbol('handler failed');

/** Reads the stream over all its connections. */
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
    // Reads all that is kept.
    if (error instanceof ConsumerError && error.code === 'pruned') this.#position = 0;
  }

  async #readOneConnection(): Promise<void> {
    const headers = await this.#headers();
    // It may have been closed while it waited for the token.
    this.#closing.signal.throwIfAborted();
    const connection = new StreamConnection(this.#url, headers, this.#options.ca, this.#clock);
    const close = () => connection.close();
    this.#closing.signal.addEventListener('abort', close, { once: true });
    try {
      const { position, pieces } = await connection.answer();
      // With `begin`, events of earlier positions come first. The `id:` behind them has the position.
      if (this.#options.begin === undefined) this.#position ??= position;
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
    const bearer =
      token === undefined ? {} : { authorization: bearerOf(typeof token === 'string' ? token : await token()) };
    return { ...bearer, ...(this.#position !== null && { 'last-event-id': String(this.#position) }) };
  }

  /** Handles one event at a time. If one fails, the later ones wait, because its position is not passed. */
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
    const event = this.#read(data);
    if (event === null) return;
    try {
      await this.#dispatcher.handle(event);
    } catch (error) {
      this.#onError(error, event);
      throw HANDLER_FAILED;
    }
  }

  /** Returns null for what is not a CloudEvent: it would not become one, and later events would wait. */
  #read(data: string): CloudEvent | null {
    try {
      return readStructured(readJson(Buffer.from(data), 'its data'), this.#dispatcher);
    } catch (error) {
      this.#onError(error, null);
      return null;
    }
  }

  #reach(position: number): void {
    this.#position = position;
    this.#options.onPosition?.(position);
  }
}

function queryOf({ changes, impacts, resources, begin }: StreamSettings): string {
  const given = Object.entries({ changes, impacts, resources, begin: begin && [begin] }).flatMap(([name, values]) =>
    values ? [[name, values.join(',')] as const] : [],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(given))}`;
}

function warn(error: unknown, event: CloudEvent | null): void {
  process.emitWarning(
    `${event === null ? 'the stream' : `the event ${event.id}`}: ${messageOf(error)}`,
    'ScheduledEventsConsumer',
  );
}
