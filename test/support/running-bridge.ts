// A metadata service, sinks and a folder → a configuration file, and processes of `run` on it, one after the other.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Outbox, openOutbox } from '../../src/outbox/outbox.ts';
import { startSimulator } from '../../src/simulator/server.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { systemDeps } from '../../src/system.ts';
import { poll } from './poll.ts';
import { folderOf, type Program, type ProgramOptions, start } from './program.ts';
import type { ReceivedRequest } from './webhook-receiver.ts';

/** 16 characters at least. */
export const TOKEN = 'correct-horse-battery-staple';

export interface BridgeFolder {
  readonly config: string;
  readonly store: string;
}

/** A section of the configuration as JSON, which is YAML. */
export type Sections = Readonly<Record<string, unknown>>;

/** Writes bridge.yaml into a folder of the test's own: 50 ms polls, free ports; `sections` over them. */
export function bridgeFolder(t: TestContext, endpoint: string, sections: Sections, folder = folderOf(t)): BridgeFolder {
  const config = join(folder, 'bridge.yaml');
  const store = join(folder, 'store');
  const whole = {
    version: 1,
    metadata: { endpoint, pollInterval: '50ms' },
    store: { path: store },
    http: { listen: '127.0.0.1:0' },
    ...sections,
  };
  writeFileSync(config, JSON.stringify(whole));
  return { config, store };
}

/** A webhook sink on loopback. */
export function hook(url: string, more: Sections = {}): Sections {
  return { type: 'webhook', url, allowInsecure: true, allowPrivate: ['127.0.0.0/8'], ...more };
}

/** Starts `run`; resolves once it handles documents. */
export async function startRun(
  t: TestContext,
  { config }: BridgeFolder,
  options?: ProgramOptions & { readonly logLevel?: string },
): Promise<Program> {
  const level = options?.logLevel === undefined ? [] : ['--log-level', options.logLevel];
  const program = start(t, ['run', '--config', config, ...level], options);
  await program.logs('"watching"');
  return program;
}

/** Where it listens, by its log. */
export function urlOf(program: Program): string {
  return /"url":"([^"]+)","msg":"listening"/.exec(program.stderr)?.[1] ?? '';
}

/** Looks at the store beside the bridge. */
export function peek<T>({ store }: BridgeFolder, look: (outbox: Outbox) => T): T {
  using outbox = openOutbox(store, { deps: systemDeps(), lock: false });
  return look(outbox);
}

export interface LocalSimulator {
  readonly url: string;
  readonly simulator: Simulator;
  /** Schedules an event; its EventId. */
  schedule(fields?: Sections): Promise<string>;
  /** A control request: `events/ID/start`, … */
  control(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Resolves once a document was read that was made after this call. */
  polled(): Promise<void>;
  /** What was answered to StartRequests, oldest first; null for a reset. */
  posts(): (number | null)[];
}

/** The simulated metadata service on a free port, until the test ends. */
export async function localSimulator(t: TestContext): Promise<LocalSimulator> {
  const server = await startSimulator({ listen: { host: '127.0.0.1', port: 0 }, deps: systemDeps() });
  t.after(() => server[Symbol.asyncDispose]());
  const { url, simulator } = server;
  const requests = (method: string) => simulator.group.journal.requests().filter((request) => request.method === method);
  const reads = () => requests('GET').filter(({ path }) => path.startsWith('/metadata/scheduledevents')).length;
  const control = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`${url}/simulator/${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  return {
    url,
    simulator,
    control,
    schedule: async (fields = {}) => ((await control('POST', 'events', fields)) as { EventId: string }).EventId,
    polled: async () => {
      const before = reads();
      await poll(() => reads() > before, 'a poll');
    },
    posts: () => requests('POST').map(({ status }) => status),
  };
}

/** What a receiver got, by CloudEvent id: the bodies in the order in which they came. */
export function received(requests: readonly ReceivedRequest[]): Map<string, string[]> {
  const byId = new Map<string, string[]>();
  for (const { headers, body } of requests) {
    const id = String(headers['webhook-id']);
    byId.set(id, [...(byId.get(id) ?? []), body.toString()]);
  }
  return byId;
}
