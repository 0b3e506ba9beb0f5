// The address of a bridge's stream → its events, over one connection after another.
import type { ClientRequest, IncomingMessage } from 'node:http';
import { messageOf } from '../../errors.ts';
import type { CancelTimer, Deps } from '../../time/clock.ts';
import type { WatchedAddress } from './watched-address.ts';

/** A bridge sends a comment every 15 s. */
const SILENT_MS = 45_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** Characters of one event: several times those of the largest document of the metadata service. */
const LONGEST = 16 * 1024 * 1024;

/** Why a stream is not read: for people. */
const REFUSALS: Readonly<Record<number, string>> = {
  401: 'it does not accept the token, or needs one: give --token-env NAME',
  403: 'the token may not read events',
  404: 'it has no stream: is this the address of http.listen?',
};

export interface StreamListener {
  /** Connected. What happened before is not on the stream. */
  opened(): void;
  /** @param data the structured CloudEvent as JSON */
  received(change: string, data: string): void;
  /** Not connected, and trying again. */
  broke(reason: string): void;
}

/**
 * Reads the stream of one bridge until it is closed. Unlike `stream()` of the consumer library, it keeps no ids and no
 * queue, and resumes nothing: a thousand of them fit into one process.
 */
export class EventStream {
  readonly #address: WatchedAddress;
  readonly #deps: Deps;
  readonly #listener: StreamListener;
  #request: ClientRequest | null = null;
  #cancelTimer: CancelTimer = () => {};
  #pauseMs = FIRST_PAUSE_MS;
  #lastByteMs = 0;
  #rest = '';
  #isClosed = false;

  /** Does nothing before `open`. */
  constructor(address: WatchedAddress, deps: Deps, listener: StreamListener) {
    this.#address = address;
    this.#deps = deps;
    this.#listener = listener;
  }

  /** Connects after a delay in milliseconds. */
  open(delayMs: number): void {
    this.#cancelTimer = this.#deps.after(delayMs, () => this.#connect());
  }

  /** Connects again if nothing has come for 45 s. Call it every few seconds: a timer for each byte costs more. */
  checkSilence(): void {
    if (this.#request === null || this.#deps.elapsedMs() - this.#lastByteMs < SILENT_MS) return;
    this.#break(this.#request, `nothing came for ${SILENT_MS / 1000} s`);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimer();
    this.#request?.destroy();
    this.#request = null;
  }

  #connect(): void {
    const url = new URL('/v1/stream', this.#address.url);
    const { get } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
    // The global agent may have a proxy from the environment.
    const request = get(url, { headers: this.#address.headers, agent: false });
    this.#request = request;
    this.#lastByteMs = this.#deps.elapsedMs();
    request.on('error', (error) => this.#break(request, messageOf(error)));
    request.on('response', (response) => this.#answered(request, response));
  }

  #answered(request: ClientRequest, response: IncomingMessage): void {
    const { statusCode = 0, headers } = response;
    if (statusCode !== 200 || !headers['content-type']?.startsWith('text/event-stream')) {
      this.#break(request, REFUSALS[statusCode] ?? `the stream answered ${statusCode}, not as a bridge does`);
      return;
    }
    this.#rest = '';
    this.#pauseMs = FIRST_PAUSE_MS;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#take(request, text));
    response.on('error', () => this.#break(request, 'the connection broke'));
    response.on('end', () => this.#break(request, 'the bridge ended the stream'));
    this.#listener.opened();
  }

  #take(request: ClientRequest, text: string): void {
    this.#lastByteMs = this.#deps.elapsedMs();
    const frames = `${this.#rest}${text}`.split('\n\n');
    this.#rest = frames.pop() ?? '';
    if (this.#rest.length > LONGEST) this.#break(request, 'an event of the stream is too long');
    for (const frame of frames) {
      const change = fieldOf(frame, 'event: ');
      const data = fieldOf(frame, 'data: ');
      if (change !== null && data !== null) this.#listener.received(change, data);
    }
  }

  /** Once for each connection. */
  #break(request: ClientRequest, reason: string): void {
    if (this.#request !== request || this.#isClosed) return;
    this.#request = null;
    this.#rest = '';
    request.on('error', () => {}).destroy();
    this.open(this.#pauseMs * (0.5 + this.#deps.random() / 2));
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    this.#listener.broke(reason);
  }
}

/** A bridge writes each field on one line, and one blank behind the colon. */
function fieldOf(frame: string, name: string): string | null {
  const start = frame.startsWith(name) ? 0 : frame.indexOf(`\n${name}`) + 1;
  if (start === 0 && !frame.startsWith(name)) return null;
  const end = frame.indexOf('\n', start);
  return frame.slice(start + name.length, end < 0 ? undefined : end);
}
