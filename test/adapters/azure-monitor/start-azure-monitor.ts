// A test → an endpoint and an Entra ID on loopback, and a sink that posts with their tokens.
import type { TestContext } from 'node:test';
import * as v from 'valibot';
import type { Outcome } from '../../../adapters/adapter.ts';
import { azureMonitorOptions, azureMonitorSink } from '../../../adapters/azure-monitor/azure-monitor.ts';
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
  /** Delivers all samples in one call, or one default sample. Never aborts. */
  readonly deliver: (...samples: readonly Sample[]) => Promise<readonly Outcome[]>;
}

export const TLS = { cert: CERTIFICATE, key: PRIVATE_KEY };
const never = new AbortController().signal;
/** A different identity for each test, because the library caches tokens for the whole process. */
let identities = 0;

/** Returns the options of a sink for this endpoint. */
export function optionsFor(endpoint: string): Readonly<Record<string, unknown>> {
  identities += 1;
  const identity = { credential: 'managed-identity', clientId: `identity-${identities}` };
  return { endpoint, rule: RULE, stream: STREAM, ...identity, allowPrivate: ['127.0.0.0/8'] };
}

export async function startAzureMonitor(
  t: TestContext,
  { options, time, server = { tls: TLS } }: AzureMonitorSetup = {},
): Promise<AzureMonitor> {
  // Also makes this process trust the certificate.
  const entra = await FakeEntra.start(t);
  const endpoint = await DataCollectionEndpoint.start(server);
  t.after(() => endpoint[Symbol.asyncDispose]());
  const parsed = v.parse(azureMonitorOptions, { ...optionsFor(endpoint.url), ...options });
  openSecrets(parsed, {});
  const deps = adapterDeps(time ? { time } : {});
  const adapter = manageAdapter(azureMonitorSink.create(parsed, deps), deps.name);
  t.after(() => adapter[Symbol.asyncDispose]());
  return {
    ...{ adapter, endpoint, entra, deps },
    deliver: (...samples) => adapter.deliver((samples.length > 0 ? samples : [{}]).map(sampleDelivery), never),
  };
}
