// A receiver and a webhook sink that posts to it, for tests of single behaviours.
import type { TestContext } from 'node:test';
import * as v from 'valibot';
import type { AdapterMemory, Outcome } from '../../../adapters/adapter.ts';
import { WebhookAdapter } from '../../../adapters/webhook/webhook.ts';
import { webhookOptions } from '../../../adapters/webhook/webhook-options.ts';
import { type ManagedAdapter, manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import type { Resolve } from '../../../src/net/private-addresses.ts';
import type { Deps } from '../../../src/time/clock.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { adapterDeps, type TestDeps } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

export interface WebhookSetup {
  /** Over the defaults of these tests: http and loopback are allowed, `url` is the receiver's. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Values of the secrets that `options` names by `env`. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly time?: Deps;
  /** What the sink remembers; by default nothing yet. */
  readonly memory?: AdapterMemory;
  /** Answers name look-ups instead of the system. */
  readonly resolve?: Resolve;
}

export interface Webhook {
  readonly adapter: ManagedAdapter;
  readonly receiver: WebhookReceiver;
  readonly deps: TestDeps;
  readonly deliver: (signal?: AbortSignal) => Promise<Outcome | undefined>;
}

export async function startWebhook(t: TestContext, setup: WebhookSetup = {}): Promise<Webhook> {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const { adapter, deps } = createWebhook(t, { ...setup, options: { url: receiver.url, ...setup.options } });
  const deliver: Webhook['deliver'] = async (signal = new AbortController().signal) =>
    (await adapter.deliver([sampleDelivery()], signal))[0];
  return { adapter, receiver, deps, deliver };
}

export function createWebhook(
  t: TestContext,
  { options, secrets, time, memory, resolve }: WebhookSetup,
): Pick<Webhook, 'adapter' | 'deps'> {
  const parsed = v.parse(webhookOptions, { allowInsecure: true, allowPrivate: ['127.0.0.0/8'], ...options });
  openSecrets(parsed, secrets ?? {});
  const deps = adapterDeps({ ...(time && { time }), ...(memory && { memory }) });
  const adapter = manageAdapter(new WebhookAdapter(parsed, deps, resolve), deps.name);
  t.after(() => adapter[Symbol.asyncDispose]());
  return { adapter, deps };
}
