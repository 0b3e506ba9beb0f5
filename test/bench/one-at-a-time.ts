// run --config FILE → the bridge, each webhook sink with one delivery in flight at a time.
import type { Adapter, AdapterDefinition } from '../../adapters/adapter.ts';
import { webhookSink } from '../../adapters/webhook/webhook.ts';
import type { WebhookOptions } from '../../adapters/webhook/webhook-options.ts';
import { runBridge } from './run-bridge.ts';

const single: AdapterDefinition<WebhookOptions> = {
  ...webhookSink,
  create: (options, deps) => oneAtATime(webhookSink.create(options, deps)),
};
await runBridge([single]);

function oneAtATime(adapter: Adapter): Adapter {
  return {
    get limits() {
      return { ...adapter.limits, inFlight: 1 };
    },
    check: (signal) => adapter.check(signal),
    deliver: (batch, signal) => adapter.deliver(batch, signal),
    close: () => adapter.close(),
  };
}
