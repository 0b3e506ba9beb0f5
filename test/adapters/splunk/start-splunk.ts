// A test → an HTTP Event Collector on loopback and a sink that posts to it.
import type { TestContext } from 'node:test';
import * as v from 'valibot';
import type { Outcome } from '../../../adapters/adapter.ts';
import { splunkSink } from '../../../adapters/splunk/splunk.ts';
import { splunkOptions } from '../../../adapters/splunk/splunk-options.ts';
import { type ManagedAdapter, manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import type { Deps } from '../../../src/time/clock.ts';
import { EventCollector, type Token } from '../../far-sides/splunk/event-collector.ts';
import type { ReceiverOptions } from '../../far-sides/webhook-receiver.ts';
import { adapterDeps, type TestDeps } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';
import { type Sample, sampleDelivery } from '../sample-deliveries.ts';

export interface SplunkSetup {
  readonly options?: Readonly<Record<string, unknown>>;
  readonly token?: Token;
  readonly time?: Deps;
  readonly server?: ReceiverOptions;
}

export interface Splunk {
  readonly adapter: ManagedAdapter;
  readonly collector: EventCollector;
  readonly deps: TestDeps;
  /** Delivers all samples in one call, or one default sample. Never aborts. */
  readonly deliver: (...samples: readonly Sample[]) => Promise<readonly Outcome[]>;
}

export const TOKEN = 'token-nobody-may-see';

export async function startSplunk(
  t: TestContext,
  { options, token = {}, time, server }: SplunkSetup = {},
): Promise<Splunk> {
  const collector = await EventCollector.start({ [TOKEN]: token }, server);
  t.after(() => collector[Symbol.asyncDispose]());
  const parsed = v.parse(splunkOptions, {
    url: collector.url,
    token: { env: 'TOKEN' },
    allowInsecure: true,
    allowPrivate: ['127.0.0.0/8'],
    ...options,
  });
  openSecrets(parsed, { TOKEN });
  const deps = adapterDeps(time ? { time } : {});
  const adapter = manageAdapter(splunkSink.create(parsed, deps), deps.name);
  t.after(() => adapter[Symbol.asyncDispose]());
  const never = new AbortController().signal;
  return {
    adapter,
    collector,
    deps,
    deliver: (...samples) => adapter.deliver((samples.length > 0 ? samples : [{}]).map(sampleDelivery), never),
  };
}
