// A test → a bridge on a real socket whose approver may lose its rights, and raw requests to it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { ADAPTERS } from '../../../adapters/index.ts';
import { startBridge } from '../../../src/bridge.ts';
import { checkConfig, configError } from '../../../src/config/check-config.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { poll } from '../../support/poll.ts';
import { RawConnection } from '../../support/raw-connection.ts';

const TOKEN = 'orders-token-00001';
const APPROVER = { token: { env: 'ORDERS' }, admin: true };
const OTHER = { other: { token: { env: 'OTHER' } } };

/** What may be revoked, and the approvals and readers that are left. */
const LEFT = {
  none: { approvers: { ...OTHER, orders: APPROVER }, readers: {} },
  token: { approvers: { ...OTHER, orders: { ...APPROVER, token: { env: 'FRESH' } } }, readers: {} },
  approver: { approvers: OTHER, readers: {} },
  reader: { approvers: OTHER, readers: { orders: { token: { env: 'ORDERS' } } } },
  scope: { approvers: { ...OTHER, orders: { ...APPROVER, scope: { resources: ['elsewhere_*'] } } }, readers: {} },
  admin: { approvers: { ...OTHER, orders: { ...APPROVER, admin: false } }, readers: {} },
} as const;

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

export interface RevocableBridge {
  /** Lines of the log at `error` or above. */
  readonly errors: readonly string[];
  /** An event that the bridge lists. @returns its id */
  schedule(): Promise<string>;
  ask(method: string, path: string, body?: object): Promise<number>;
  /**
   * Sends this share of a request's bytes, all but the last at most, runs `between` and sends the rest.
   * @returns the status
   */
  askInParts(asked: Asked, share: number, between: () => Promise<void>): Promise<number>;
  revoke(right: keyof typeof LEFT): Promise<void>;
  restore(): Promise<void>;
  /** All that the requests of this test could change. */
  shown(eventId: string): Promise<unknown>;
}

function bytesOf({ method, path, body }: Asked): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const type =
    body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${TOKEN}\r\n${type}\r\n${text}`,
  );
}

export async function revocableBridge(t: TestContext): Promise<RevocableBridge> {
  const azure = await localSimulator(t);
  const folder = mkdtempSync(join(tmpdir(), 'revoked-rights-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  let left: keyof typeof LEFT = 'none';
  const read = () => {
    const { approvers, readers } = LEFT[left];
    const http = { listen: '127.0.0.1:0', readers };
    const metadata = { endpoint: azure.url, pollInterval: '200ms' };
    return checkConfig(
      {
        version: 1,
        metadata,
        store: { path: join(folder, 'store') },
        http,
        approvals: { approvers },
        sinks: { audit: { type: 'stdout' } },
      },
      {
        ...{ adapters: ADAPTERS, directory: folder, readFile: () => '' },
        env: { ORDERS: TOKEN, FRESH: 'orders-token-00002', OTHER: 'other-token-000001' },
      },
    );
  };
  const started = read();
  if ('faults' in started) throw configError(started.faults);
  const errors: string[] = [];
  const bridge = await startBridge({
    ...{
      config: started.options,
      file: { written: started.written, read: async () => read() },
      version: 'test',
      deps: systemDeps(),
    },
    logger: pino({ level: 'error' }, { write: (line: string) => errors.push(line) }),
    logLinesDropped: () => 0,
    stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
  });
  t.after(() => bridge[Symbol.asyncDispose]());
  const get = async (path: string) =>
    (await fetch(`${bridge.url}${path}`, { headers: { connection: 'close' } })).json();
  const reloadTo = async (next: keyof typeof LEFT) => {
    left = next;
    const { kind } = await bridge.reload('test');
    if (kind !== 'applied') throw new Error(`the reload was ${kind}`);
  };
  const askInParts = async (asked: Asked, share: number, between: () => Promise<void>) => {
    const bytes = bytesOf(asked);
    const cut = Math.min(bytes.length - 1, Math.floor(bytes.length * share));
    const connection = (await new RawConnection(Number(new URL(bridge.url).port)).connected()).read();
    connection.send(bytes.subarray(0, cut));
    // What was sent before is there by then.
    await get('/v1/sinks');
    await between();
    connection.send(bytes.subarray(cut));
    await connection.closed();
    return Number(/^HTTP\/1\.1 (\d+)/.exec(connection.text)?.[1]);
  };
  return {
    errors,
    schedule: async () => {
      const { EventId } = azure.schedule({ EventType: 'Reboot' });
      await poll(
        () => bridge.status.events().events.some((event) => JSON.stringify(event).includes(EventId)),
        'an event to be known',
      );
      return EventId;
    },
    ask: (method, path, body) => askInParts({ method, path, ...(body && { body }) }, 1, async () => {}),
    askInParts,
    revoke: reloadTo,
    restore: () => reloadTo('none'),
    shown: async (eventId) => {
      const { steps, holds, approvedBy } = (await get(`/v1/approvals/${eventId}`)) as Readonly<Record<string, unknown>>;
      const sinks = (await get('/v1/sinks')) as readonly { readonly state: string }[];
      const { events } = (await get('/v1/events')) as {
        readonly events: readonly { readonly event: { readonly eventId: string } }[];
      };
      const drills = JSON.stringify(events).match(/drill-[0-9a-f-]{36}/g) ?? [];
      const started = azure
        .requests()
        .filter(({ method, body }) => method === 'POST' && JSON.stringify(body).includes(eventId));
      return {
        steps,
        holds,
        approvedBy,
        isPaused: sinks.some(({ state }) => state === 'paused'),
        drills,
        started: started.length,
      };
    },
  };
}
