// A type of sink → its settings for a bridge, its far side, and what arrived there.
import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { BulkIndex } from '../../far-sides/bulk-index.ts';
import { SyslogServer } from '../../far-sides/syslog/syslog-server.ts';
import { type Answer, WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { hook, type Sections } from '../../support/running-bridge.ts';
import { Gate } from './gate.ts';

/** One CloudEvent at one sink, as it was read from outside. */
export interface Arrival {
  /** The whole CloudEvent as JSON text. */
  readonly text: string;
  /** It arrived between these two, in ms of `performance.now()`. */
  readonly fromMs: number;
  readonly atMs: number;
  /** Until when the bridge had read the answer. Null: nothing shows that it has, so that it may send it again. */
  readMs: number | null;
}

export interface FarSide {
  readonly name: string;
  readonly settings: Sections;
  readonly env?: Readonly<Record<string, string>>;
  /** All that arrived so far, in order for each event. */
  readonly arrivals: () => Promise<readonly Arrival[]> | readonly Arrival[];
  /** Faults of sinks work on it. */
  readonly gate?: Gate;
  /** A broker goes away. */
  readonly leave?: () => unknown;
  readonly comeBack?: () => Promise<unknown>;
  /** Faults of HTTP answers: null is the usual answer. */
  readonly answer?: (status: number | null) => void;
  /** Requests that had another answer than the usual one. */
  readonly refused?: () => number;
  /** Notes what has arrived meanwhile. Called every 20 ms. */
  readonly look?: () => void;
}

/** @param isGated faults are for this one */
export async function webhook(t: TestContext, name: string, isGated: boolean): Promise<FarSide> {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  let status: number | null = null;
  let refused = 0;
  const accepted: Arrival[] = [];
  const reads = new Reads();
  const gate = isGated ? await Gate.start(t, receiver.port) : undefined;
  receiver.default = (response, socket, { body }) => {
    reads.next(socket);
    if (status === null) {
      const arrival = arrivalOf(body.toString(), isGated ? null : performance.now());
      accepted.push(arrival);
      if (isGated) reads.answered(socket, [arrival]);
    } else refused += 1;
    response.writeHead(status ?? 204).end();
  };
  return {
    name,
    settings: hook(`http://127.0.0.1:${gate?.port ?? receiver.port}/hook`, isGated ? { timeout: '1s' } : {}),
    arrivals: () => accepted,
    answer: (given) => {
      status = given;
    },
    refused: () => refused,
    ...(gate && { gate }),
  };
}

/** A request that follows on a connection shows that the bridge has read the answer to the one before it in time. */
class Reads {
  readonly #answered = new WeakMap<Socket, readonly Arrival[]>();

  next(socket: Socket): void {
    for (const arrival of this.#answered.get(socket) ?? []) arrival.readMs = performance.now();
    this.#answered.delete(socket);
  }

  answered(socket: Socket, arrivals: readonly Arrival[]): void {
    this.#answered.set(socket, arrivals);
  }
}

function arrivalOf(text: string, readMs: number | null): Arrival {
  const nowMs = performance.now();
  return { text, fromMs: nowMs, atMs: nowMs, readMs };
}

/** Looks at what a far side has so far → when each arrived. */
export class Looks {
  readonly #texts: () => readonly string[];
  readonly #arrivals: Arrival[] = [];
  #lastMs = performance.now();

  /** @param texts all that arrived so far; what was there stays as it is */
  constructor(texts: () => readonly string[]) {
    this.#texts = texts;
  }

  readonly look = (): void => {
    const [fromMs, atMs] = [this.#lastMs, performance.now()];
    for (const text of this.#texts().slice(this.#arrivals.length))
      this.#arrivals.push({ text, fromMs, atMs, readMs: atMs });
    this.#lastMs = atMs;
  };

  readonly arrivals = (): readonly Arrival[] => {
    this.look();
    return this.#arrivals;
  };
}

export function file(folder: string): FarSide {
  const path = join(folder, 'events.ndjson');
  let [size, text] = [0, ''];
  const read = () => {
    const now = existsSync(path) ? statSync(path).size : 0;
    if (now !== size) [size, text] = [now, readFileSync(path, 'utf8')];
    return text;
  };
  // What has no end yet is being written, or was when the process was killed.
  const looks = new Looks(() => read().split('\n').slice(0, -1));
  return { name: 'file', settings: { type: 'file', path }, ...looks };
}

export async function syslog(t: TestContext): Promise<FarSide> {
  const server = await SyslogServer.start({ transport: 'tcp' });
  t.after(() => server.stop());
  // RFC 5424: the message is what follows the structured data, and begins with a brace here.
  const looks = new Looks(() => server.messages.map((message) => jsonIn(message.toString())));
  return { name: 'syslog', settings: { type: 'syslog', server: server.url, format: 'json' }, ...looks };
}

function jsonIn(message: string): string {
  return message.slice(message.indexOf('{"'));
}

export async function search(t: TestContext): Promise<FarSide> {
  const index = await BulkIndex.start();
  t.after(() => index[Symbol.asyncDispose]());
  const gate = await Gate.start(t, index.receiver.port);
  const [arrived, reads, reply]: [Arrival[], Reads, Answer] = [[], new Reads(), index.receiver.default];
  index.receiver.default = (response, socket, request) => {
    reads.next(socket);
    const before = index.arrived.length;
    if (typeof reply === 'function') reply(response, socket, request);
    const arrivals = index.arrived.slice(before).map(({ bytes }) => arrivalOf(withoutTimestamp(bytes), null));
    arrived.push(...arrivals);
    reads.answered(socket, arrivals);
  };
  return {
    name: 'search',
    settings: {
      ...{ type: 'elasticsearch', url: `http://127.0.0.1:${gate.port}`, index: 'events', timeout: '1s' },
      ...{ format: 'json', allowInsecure: true, allowPrivate: ['127.0.0.0/8'] },
    },
    arrivals: () => arrived,
    gate,
  };
}

/** The sink adds the member `@timestamp` as the first one. */
function withoutTimestamp(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString()
    .replace(/^\{"@timestamp":"[^"]*",/, '{');
}
