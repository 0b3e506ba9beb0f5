// A test → a receiver of log records on loopback and a sink that posts to it.
import type { TestContext } from 'node:test';
import * as v from 'valibot';
import type { Outcome } from '../../../adapters/adapter.ts';
import { otlpOptions, otlpSink } from '../../../adapters/otlp/otlp.ts';
import { type ManagedAdapter, manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import type { Deps } from '../../../src/time/clock.ts';
import { LogReceiver } from '../../far-sides/otlp/log-receiver.ts';
import type { ReceiverOptions } from '../../far-sides/webhook-receiver.ts';
import { adapterDeps, type TestDeps } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';
import { type Sample, sampleDelivery } from '../sample-deliveries.ts';

interface OtlpSetup {
  /** Replaces the defaults of these tests: http and loopback are allowed, `url` is the receiver's. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly time?: Deps;
  readonly server?: ReceiverOptions;
}

interface Otlp {
  readonly adapter: ManagedAdapter;
  readonly receiver: LogReceiver;
  readonly deps: TestDeps;
  /** Delivers all samples in one call, or one default sample. Never aborts. */
  readonly deliver: (...samples: readonly Sample[]) => Promise<readonly Outcome[]>;
}

export async function startOtlp(t: TestContext, { options, time, server }: OtlpSetup = {}): Promise<Otlp> {
  const receiver = await LogReceiver.start(server);
  t.after(() => receiver[Symbol.asyncDispose]());
  const { adapter, deps } = createOtlp(t, { url: receiver.url, ...options }, time);
  const never = new AbortController().signal;
  return {
    adapter,
    receiver,
    deps,
    deliver: (...samples) => adapter.deliver((samples.length > 0 ? samples : [{}]).map(sampleDelivery), never),
  };
}

export function createOtlp(
  t: TestContext,
  options: Readonly<Record<string, unknown>>,
  time?: Deps,
): Pick<Otlp, 'adapter' | 'deps'> {
  const parsed = v.parse(otlpOptions, { allowInsecure: true, allowPrivate: ['127.0.0.0/8'], ...options });
  openSecrets(parsed, {});
  const deps = adapterDeps(time ? { time } : {});
  const adapter = manageAdapter(otlpSink.create(parsed, deps), deps.name);
  t.after(() => adapter[Symbol.asyncDispose]());
  return { adapter, deps };
}
