// A metadata service, sinks, a folder → a configuration file, and processes of `run` on it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Outbox, openOutbox } from '../../src/outbox/outbox.ts';
import type { SimulatedAzure } from '../../src/simulator.ts';
import { systemDeps } from '../../src/time/system.ts';
import type { ReceivedRequest } from '../far-sides/webhook-receiver.ts';
import { folderOf } from './folder.ts';
import { type Program, type ProgramOptions, start } from './program.ts';

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
  requireEndpoint(whole.metadata);
  writeFileSync(config, JSON.stringify(whole));
  return { config, store };
}

/**
 * Without one, the program would poll the address of the real service. `metadata` of a test replaces the one that is
 * written here.
 */
function requireEndpoint(metadata: Readonly<{ endpoint?: unknown }>): void {
  if (!/^(https?:|discover$)/.test(String(metadata.endpoint)))
    throw new TypeError('a bridge in a test needs an endpoint');
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

/** Resolves once a document was read that was made after this call. */
export async function polled(azure: SimulatedAzure): Promise<void> {
  const before = reads(azure);
  await azure.until(() => reads(azure) > before, { timeoutMs: 20_000 });
}

function reads(azure: SimulatedAzure): number {
  return azure.requests().filter(({ method, path }) => method === 'GET' && path.startsWith('/metadata/scheduledevents'))
    .length;
}

/** What was answered to StartRequests, oldest first; null for a reset. */
export function posts(azure: SimulatedAzure): (number | null)[] {
  return azure
    .requests()
    .filter(({ method }) => method === 'POST')
    .map(({ status }) => status);
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
