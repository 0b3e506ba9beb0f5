// An endpoint on loopback, tokens of Microsoft Entra ID, and a sink that posts with them.
import type { TestContext } from 'node:test';
import * as v from 'valibot';
import type { Outcome } from '../../../adapters/adapter.ts';
import { azureMonitor } from '../../../adapters/azure-monitor/azure-monitor.ts';
import { azureMonitorOptions } from '../../../adapters/azure-monitor/azure-monitor-options.ts';
import { type ManagedAdapter, manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import type { Deps } from '../../../src/time/clock.ts';
import { DataCollectionEndpoint, RULE, STREAM } from '../../far-sides/azure-monitor/data-collection-endpoint.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../far-sides/certificate.ts';
import { FakeEntra } from '../../far-sides/entra-id.ts';
import type { ReceiverOptions } from '../../far-sides/webhook-receiver.ts';
import { adapterDeps, type TestDeps } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';
import { type Sample, sampleDelivery } from '../sample-deliveries.ts';

export interface AzureMonitorSetup {
  readonly options?: Readonly<Record<string, unknown>>;
  readonly time?: Deps;
  readonly server?: ReceiverOptions;
}

interface AzureMonitor {
  readonly adapter: ManagedAdapter;
  readonly endpoint: DataCollectionEndpoint;
  readonly entra: FakeEntra;
  readonly deps: TestDeps;
  /** One call for all samples, or for the usual one; without an end of its own. */
  readonly deliver: (...samples: readonly Sample[]) => Promise<readonly Outcome[]>;
}

export const TLS = { cert: CERTIFICATE, key: PRIVATE_KEY };
const never = new AbortController().signal;
/** The library keeps the tokens of an identity for the whole process. */
let identities = 0;

/** What every sink of these tests is configured with. */
export function optionsFor(endpoint: string): Readonly<Record<string, unknown>> {
  identities += 1;
  const identity = { credential: 'managed-identity', clientId: `identity-${identities}` };
  return { endpoint, rule: RULE, stream: STREAM, ...identity, allowPrivate: ['127.0.0.0/8'] };
}

export async function startAzureMonitor(
  t: TestContext,
  { options, time, server = { tls: TLS } }: AzureMonitorSetup = {},
): Promise<AzureMonitor> {
  // Makes this process trust the certificate, too.
  const entra = await FakeEntra.start(t);
  const endpoint = await DataCollectionEndpoint.start(server);
  t.after(() => endpoint[Symbol.asyncDispose]());
  const parsed = v.parse(azureMonitorOptions, { ...optionsFor(endpoint.url), ...options });
  openSecrets(parsed, {});
  const deps = adapterDeps(time ? { time } : {});
  const adapter = manageAdapter(azureMonitor.create(parsed, deps), deps.name);
  t.after(() => adapter[Symbol.asyncDispose]());
  return {
    ...{ adapter, endpoint, entra, deps },
    deliver: (...samples) => adapter.deliver((samples.length > 0 ? samples : [{}]).map(sampleDelivery), never),
  };
}
