// GET /v1/stream of a bridge → handlers, in order; it resumes by position over every break.
import type { ClientRequest, IncomingMessage } from 'node:http';
import { messageOf } from '../../errors.ts';
import { sleep } from '../../time/clock.ts';
import { baseOf, bearerOf } from '../approve/approval-http.ts';
import type { Clock } from '../clock.ts';
import { ConsumerError } from '../consumer-error.ts';
import type { CloudEvent } from '../event.ts';
import { parseJson, readStructured } from '../read-event.ts';
import type { Dispatcher, DispatcherOptions } from './dispatcher.ts';
import type { Handlers } from './handlers.ts';
import { SseParser } from './sse-parser.ts';

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

/** A bridge sends a comment every 15 s. */
const SILENT_MS = 45_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** Connects at once. @throws ConsumerError `usage` for a URL that is none, or one that would show the token */
export function streamOn(options: StreamOptions, dispatcher: Dispatcher, clock: Clock): StreamConsumer {
  const base = baseOf(options);
  const { onError = warn, onPosition = () => {} } = options;
  const closing = new AbortController();
  let position = options.after ?? null;
  const reached = (next: number) => {
    position = next;
    onPosition(next);
  };

  /** One event at a time: what is behind one that failed waits, as its position is not passed. */
  const handle = async (response: IncomingMessage, heard: () => void): Promise<void> => {
    const parser = new SseParser();
    for await (const bytes of response) {
      heard();
      for (const { id, data } of parser.take(bytes as Uint8Array)) {
        if (data !== null) await take(data);
        if (id !== null) reached(Number(id));
        closing.signal.throwIfAborted();
      }
      heard();
    }
  };

  const take = async (data: string): Promise<void> => {
    const event = readStructured(parseJson(Buffer.from(data), 'its data'), dispatcher);
    try {
      await dispatcher.handle(event);
    } catch (error) {
      onError(error, event);
      throw TOLD;
    }
  };

  const connect = async (): Promise<void> => {
    const { token } = options;
    const bearer = token === undefined ? {} : { authorization: bearerOf(typeof token === 'string' ? token : await token()) };
    const resume = position === null ? {} : { 'last-event-id': String(position) };
    const request = ask(new URL(`v1/stream${queryOf(options)}`, base), { ...bearer, ...resume }, options.ca);
    let cancel = () => {};
    let silence: Error | null = null;
    const heard = () => {
      cancel();
      cancel = clock.after(SILENT_MS, () => {
        silence = new Error(`no byte came for ${SILENT_MS / 1000} s`);
        request.destroy(silence);
      });
    };
    const abort = () => request.destroy();
    closing.signal.addEventListener('abort', abort, { once: true });
    heard();
    try {
      const response = await answerOf(request);
      if (response.statusCode !== 200 || !isStream(response)) throw await refusalOf(response);
      position ??= beginningOf(response);
      await handle(response, heard);
    } catch (error) {
      // Of a connection that breaks in the middle Node says "aborted" alone.
      throw error === TOLD || error instanceof ConsumerError ? error : broken(silence ?? error);
    } finally {
      cancel();
      closing.signal.removeEventListener('abort', abort);
      request.destroy();
    }
  };

  const run = async (): Promise<void> => {
    for (let pauseMs = FIRST_PAUSE_MS; !closing.signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const before = position;
      try {
        await connect();
      } catch (error) {
        if (closing.signal.aborted) return;
        if (error !== TOLD) onError(error, null);
        if (isGap(error)) position = 0;
      }
      if (position !== before) pauseMs = FIRST_PAUSE_MS;
      await sleep(clock, pauseMs * (0.5 + clock.random() / 2), closing.signal).catch(() => {});
    }
  };
  const ended = run();

  return {
    get position() {
      return position;
    },
    close: async () => {
      closing.abort();
      await Promise.all([ended, options.dispatcher === undefined ? dispatcher.close() : null]);
    },
  };
}

/** A handler failed, which was told with its event. */
const TOLD = Symbol('told');

function isGap(error: unknown): boolean {
  return error instanceof ConsumerError && error.code === 'pruned';
}

function queryOf({ changes, impacts, resources }: StreamSettings): string {
  const given = Object.entries({ changes, impacts, resources }).flatMap(([name, values]) =>
    values ? [[name, values.join(',')] as const] : [],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(given))}`;
}

function ask(url: URL, headers: Readonly<Record<string, string>>, ca: string | undefined): ClientRequest {
  if (url.protocol === 'http:') return process.getBuiltinModule('node:http').get(url, { headers, agent: false });
  return process.getBuiltinModule('node:https').get(url, { headers, agent: false, ...(ca !== undefined && { ca }) });
}

function answerOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', (cause) => reject(broken(cause)));
  });
}

function broken(cause: unknown): ConsumerError {
  return new ConsumerError('unreachable', `the stream of the bridge broke: ${messageOf(cause)}`, { cause });
}

/** Not a page that a proxy gives with 200 in the bridge's place, which would be taken for a stream that brings nothing. */
function isStream({ headers }: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

/** Null where a proxy took the header away: the first `id:` tells it then. */
function beginningOf({ headers }: IncomingMessage): number | null {
  const told = String(headers['journal-position']);
  return /^\d+$/.test(told) ? Number(told) : null;
}

/** What is no answer of a bridge, such as a page of a proxy, has no type. */
async function refusalOf(response: IncomingMessage): Promise<ConsumerError> {
  const status = response.statusCode ?? 0;
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text = `${text}${String(piece)}`.slice(0, 65_536);
  const { type, detail } = problemIn(text);
  const more = { status, ...(type !== undefined && { type }) };
  if (type === 'pruned' || type === 'position')
    return new ConsumerError('pruned', `something is missing: ${detail ?? status}; all that is kept comes now`, more);
  const answer = status === 200 ? 'what answered is no stream of a bridge, is a proxy in the way?' : `it answered ${status}`;
  return new ConsumerError('refused', `the bridge refused the stream: ${detail ?? answer}; asked again`, more);
}

function problemIn(text: string): { readonly type?: string; readonly detail?: string } {
  try {
    const { type, detail } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return { ...(typeof type === 'string' && { type }), ...(typeof detail === 'string' && { detail }) };
  } catch {
    return {};
  }
}

function warn(error: unknown, event: CloudEvent | null): void {
  process.emitWarning(`${event === null ? 'the stream' : `the event ${event.id}`}: ${messageOf(error)}`, 'ScheduledEventsConsumer');
}
