// A test → a bridge on a real socket, and a simulator with the OpenAPI examples' event.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { ADAPTERS } from '../../../adapters/index.ts';
import { startBridge } from '../../../src/bridge.ts';
import { checkConfig, configError } from '../../../src/config/check-config.ts';
import { EXAMPLE_ID } from '../../../src/http/openapi/operation.ts';
import type { SimulatedAzure } from '../../../src/simulator.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { poll } from '../../support/poll.ts';

export const APPROVER = 'orders-token-00001';
const ENV = { ORDERS: APPROVER, BILLING: 'billing-token-0001' };

export interface ServedBridge {
  readonly url: string;
  readonly azure: SimulatedAzure;
  readonly started: string;
  readonly ended: string;
  /** Lines of the log at `error` or above. */
  readonly errors: readonly string[];
}

/**
 * Knows three events: the examples' one is scheduled, one has started, one has ended.
 * @param prepare is called with the folder of the store before the bridge starts
 */
export async function serveBridge(t: TestContext, prepare: (store: string) => void = () => {}): Promise<ServedBridge> {
  const azure = await localSimulator(t);
  azure.schedule({ EventId: EXAMPLE_ID, EventType: 'Freeze' });
  const { EventId: started } = azure.schedule({ EventType: 'Reboot' });
  azure.start(started);
  const { EventId: ended } = azure.schedule({ EventType: 'Redeploy' });
  const folder = mkdtempSync(join(tmpdir(), 'openapi-fuzz-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  prepare(join(folder, 'store'));
  const errors: string[] = [];
  const bridge = await startBridge({
    config: configOf(azure.url, folder),
    version: 'test',
    deps: systemDeps(),
    logger: pino({ level: 'error' }, { write: (line: string) => errors.push(line) }),
    logLinesDropped: () => 0,
    stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
  });
  t.after(() => bridge[Symbol.asyncDispose]());
  const isListed = (id: string) =>
    JSON.stringify(bridge.status.events().events).toLowerCase().includes(id.toLowerCase());
  await poll(() => [EXAMPLE_ID, started, ended].every(isListed), 'three events to be known');
  azure.cancel(ended);
  await poll(() => !isListed(ended), 'an event to end');
  return { url: bridge.url, azure, started, ended, errors };
}

function configOf(endpoint: string, folder: string) {
  const checked = checkConfig(
    {
      version: 1,
      metadata: { endpoint, pollInterval: '200ms' },
      store: { path: join(folder, 'store') },
      http: { listen: '127.0.0.1:0' },
      approvals: {
        approvers: { orders: { token: { env: 'ORDERS' } }, billing: { token: { env: 'BILLING' } } },
        dryRun: true,
      },
    },
    { adapters: ADAPTERS, env: ENV, directory: folder, readFile: () => '' },
  );
  if ('faults' in checked) throw configError(checked.faults);
  return checked.options;
}
