// URLs → a program with a lane to each, a delivery every 100 ms; prints outcomes and TCP sockets.
import * as v from 'valibot';
import { webhookSink } from '../../../adapters/webhook/webhook.ts';
import { Lane } from '../../../src/delivery/lane.ts';
import { type ManagedAdapter, manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import { MemoryLaneStore } from '../../virtual/memory-lane-store.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

const EVERY_MS = 100;
const KEYS = 4;

const lanes = process.argv.slice(2).map((url, index) => {
  const name = `sink-${index}`;
  const deps = adapterDeps();
  const options = v.parse(webhookSink.options, {
    url,
    allowInsecure: true,
    allowPrivate: ['0.0.0.0/0'],
    timeout: '1s',
  });
  const store = new MemoryLaneStore(deps.wallMs);
  const lane = new Lane({
    name,
    adapter: told(name, manageAdapter(webhookSink.create(options, deps), name)),
    store,
    deps,
    logger: deps.logger,
  });
  lane.start();
  return { name, lane, store };
});

function told(name: string, adapter: ManagedAdapter): ManagedAdapter {
  return {
    limits: adapter.limits,
    check: (signal) => adapter.check(signal),
    deliver: async (batch, signal) => {
      const outcomes = await adapter.deliver(batch, signal);
      const sockets = process.getActiveResourcesInfo().filter((resource) => resource.startsWith('TCP')).length;
      for (const outcome of outcomes)
        process.stdout.write(`${name} ${outcome instanceof Error ? outcome.code : outcome} ${sockets}\n`);
      return outcomes;
    },
    [Symbol.asyncDispose]: () => adapter[Symbol.asyncDispose](),
  };
}

let seq = 0;
setInterval(() => {
  seq += 1;
  for (const { name, lane, store } of lanes) {
    const { id, bytes, partitionKey } = sampleDelivery({ seq, partitionKey: `key-${seq % KEYS}` });
    store.queue(name, partitionKey, { id, bytes });
    lane.wake();
  }
}, EVERY_MS);
