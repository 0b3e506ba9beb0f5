// A test → an index on loopback and a sink that writes to it.
import type { TestContext } from 'node:test';
import * as v from 'valibot';
import type { Outcome } from '../../../adapters/adapter.ts';
import { elasticsearchSink } from '../../../adapters/elasticsearch/elasticsearch.ts';
import { elasticsearchOptions } from '../../../adapters/elasticsearch/elasticsearch-options.ts';
import { type ManagedAdapter, manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import type { Deps } from '../../../src/time/clock.ts';
import { BulkIndex } from '../../far-sides/bulk-index.ts';
import type { ReceiverOptions } from '../../far-sides/webhook-receiver.ts';
import { adapterDeps, type TestDeps } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';
import { type Sample, sampleDelivery } from '../sample-deliveries.ts';

export interface ElasticsearchSetup {
  readonly options?: Readonly<Record<string, unknown>>;
  /** Values of the `env` secrets in `options`. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly time?: Deps;
  readonly server?: ReceiverOptions;
}

interface Sink {
  readonly adapter: ManagedAdapter;
  readonly deps: TestDeps;
  /** Delivers all samples in one call, or one default sample. Never aborts. */
  readonly deliver: (...samples: readonly Sample[]) => Promise<readonly Outcome[]>;
}

export async function startElasticsearch(
  t: TestContext,
  setup: ElasticsearchSetup = {},
): Promise<Sink & { readonly far: BulkIndex }> {
  const far = await BulkIndex.start(setup.server);
  t.after(() => far[Symbol.asyncDispose]());
  return { far, ...createElasticsearch(t, { ...setup, options: { url: far.url, ...setup.options } }) };
}

/** Creates a sink without a far side. */
export function createElasticsearch(t: TestContext, { options, secrets = {}, time }: ElasticsearchSetup): Sink {
  const parsed = v.parse(elasticsearchOptions, { allowInsecure: true, allowPrivate: ['127.0.0.0/8'], ...options });
  openSecrets(parsed, secrets);
  const deps = adapterDeps(time ? { time } : {});
  const adapter = manageAdapter(elasticsearchSink.create(parsed, deps), deps.name);
  t.after(() => adapter[Symbol.asyncDispose]());
  const never = new AbortController().signal;
  return {
    adapter,
    deps,
    deliver: (...samples) => adapter.deliver((samples.length > 0 ? samples : [{}]).map(sampleDelivery), never),
  };
}
