// A type of sink → its settings for a bridge, its far side, and what arrived there.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { BulkIndex } from '../../far-sides/bulk-index.ts';
import { SyslogServer } from '../../far-sides/syslog/syslog-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { hook, type Sections } from '../../support/running-bridge.ts';
import { Gate } from './gate.ts';

/** One CloudEvent at one sink, as it was read from outside. */
export interface Arrival {
  /** The whole CloudEvent as JSON text. */
  readonly text: string;
  /** In ms of `performance.now()`; null if this far side does not tell. */
  readonly atMs: number | null;
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
}

/** @param isGated faults are for this one */
export async function webhook(t: TestContext, name: string, isGated: boolean): Promise<FarSide> {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  let status: number | null = null;
  const accepted: Arrival[] = [];
  const gate = isGated ? await Gate.start(t, receiver.port) : undefined;
  receiver.default = (response, _socket, { body }) => {
    if (status === null) accepted.push({ text: body.toString(), atMs: performance.now() });
    response.writeHead(status ?? 204).end();
  };
  return {
    name,
    settings: hook(`http://127.0.0.1:${gate?.port ?? receiver.port}/hook`, isGated ? { timeout: '1s' } : {}),
    arrivals: () => accepted,
    answer: (given) => {
      status = given;
    },
    ...(gate && { gate }),
  };
}

export function file(folder: string): FarSide {
  const path = join(folder, 'events.ndjson');
  return {
    name: 'file',
    settings: { type: 'file', path },
    arrivals: () => (existsSync(path) ? linesOf(readFileSync(path, 'utf8')) : []),
  };
}

function linesOf(text: string): readonly Arrival[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ text: line, atMs: null }));
}

export async function syslog(t: TestContext): Promise<FarSide> {
  const server = await SyslogServer.start({ transport: 'tcp' });
  t.after(() => server.stop());
  return {
    name: 'syslog',
    settings: { type: 'syslog', server: server.url, format: 'json' },
    // RFC 5424: the message is what follows the structured data, and begins with a brace here.
    arrivals: () => server.messages.map((message) => ({ text: jsonIn(message.toString()), atMs: null })),
  };
}

function jsonIn(message: string): string {
  return message.slice(message.indexOf('{"'));
}

export async function search(t: TestContext): Promise<FarSide> {
  const index = await BulkIndex.start();
  t.after(() => index[Symbol.asyncDispose]());
  const gate = await Gate.start(t, index.receiver.port);
  return {
    name: 'search',
    settings: {
      ...{ type: 'elasticsearch', url: `http://127.0.0.1:${gate.port}`, index: 'events', timeout: '1s' },
      ...{ format: 'json', allowInsecure: true, allowPrivate: ['127.0.0.0/8'] },
    },
    arrivals: () => index.documents.map(({ bytes }) => ({ text: withoutTimestamp(bytes), atMs: null })),
    gate,
  };
}

/** The sink adds the member `@timestamp` as the first one. */
function withoutTimestamp(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString()
    .replace(/^\{"@timestamp":"[^"]*",/, '{');
}
