// The adapter contract for elasticsearch in each format: the far side is an index on loopback.

import type { TestContext } from 'node:test';
import { CloudEvent } from 'cloudevents';
import { elasticsearchSink } from '../../../adapters/elasticsearch/elasticsearch.ts';
import { toEcs } from '../../../src/log-record/ecs.ts';
import { logRecord } from '../../../src/log-record/log-record.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { BulkIndex } from '../../far-sides/bulk-index.ts';
import { type Arrival, type FarSide, testAdapter } from '../contract.ts';
import { httpSinkContract } from '../http-sink-contract.ts';
import type { HttpSink, HttpSinkSetup } from '../http-sink-under-test.ts';
import { receiverSwitches } from '../receiver-switches.ts';
import { startElasticsearch } from './start-elasticsearch.ts';

testAdapter({
  definition: elasticsearchSink,
  start: (t) => startIndex(t, 'ecs'),
  onTheWire: ecsOf,
  awayIs: 'retry',
});
testAdapter({
  definition: elasticsearchSink,
  variant: 'json',
  start: (t) => startIndex(t, 'json'),
  onTheWire: stamped,
  awayIs: 'retry',
});
testAdapter({
  definition: elasticsearchSink,
  variant: 'gzip',
  start: (t) => startIndex(t, 'ecs', { compression: 'gzip', pipeline: 'enrich' }),
  onTheWire: ecsOf,
  awayIs: 'retry',
});

for (const format of ['ecs', 'json'] as const)
  httpSinkContract({
    name: `elasticsearch, ${format}`,
    start: (t, setup) => startSink(t, format, setup),
    rejection: { status: 400, makesRepeats: false, requests: 1 },
    credential: {
      options: (file) => ({ format, apiKey: { file } }),
      value: 'old',
      reason: /check the credentials in apiKey/,
    },
    unsupportedBody: { options: { compression: 'gzip' }, advice: /answered 415: .*set compression: none/ },
  });

async function startSink(t: TestContext, format: 'ecs' | 'json', setup: HttpSinkSetup = {}): Promise<HttpSink> {
  const { adapter, deps, deliver, far } = await startElasticsearch(t, {
    ...setup,
    options: { format, ...setup.options },
  });
  const { receiver } = far;
  return {
    ...{ adapter, deps, deliver, receiver },
    arrivals: () =>
      far.arrived.map(({ source }) => {
        const { id, data } = eventIn(source);
        return { id, description: (data as { readonly description: string }).description };
      }),
    reject: (text) => {
      far.fails = ({ source }) =>
        JSON.stringify(source).includes(text) ? { status: 400, type: 'mapper_parsing_exception' } : null;
    },
    renewCredential: () => {
      far.authorization = 'ApiKey renewed';
    },
  };
}

function ecsOf({ bytes }: Delivery): Uint8Array {
  return Buffer.from(JSON.stringify(toEcs(logRecord(bytes))));
}

function stamped({ bytes }: Delivery): Uint8Array {
  const event = JSON.parse(Buffer.from(bytes).toString()) as { readonly time: string };
  return Buffer.from(JSON.stringify({ '@timestamp': event.time, ...event }));
}

function eventIn(source: Readonly<Record<string, unknown>>): CloudEvent<unknown> {
  if ('cloudevents' in source)
    return new CloudEvent({ ...(source['cloudevents'] as object), data: source['scheduled_events'] }, true);
  const { '@timestamp': _, ...event } = source;
  return new CloudEvent(event, true);
}

async function startIndex(t: TestContext, format: 'ecs' | 'json', more: object = {}): Promise<FarSide> {
  const far = await BulkIndex.start();
  t.after(() => far[Symbol.asyncDispose]());
  const { receiver } = far;
  far.authorization = 'ApiKey key-nobody-may-see';
  return {
    options: {
      type: 'elasticsearch',
      url: { env: 'ES_URL' },
      apiKey: { env: 'ES_KEY' },
      format,
      allowInsecure: true,
      allowPrivate: ['127.0.0.0/8'],
      ...more,
    },
    secrets: { ES_URL: `${far.url}/path-nobody-may-see/`, ES_KEY: 'key-nobody-may-see', path: 'path-nobody-may-see' },
    ...receiverSwitches(receiver),
    arrivals: (): readonly Arrival[] => far.arrived.map(({ bytes, source }) => ({ bytes, event: eventIn(source) })),
    accept: () => far.restore(),
    refuse: () => {
      far.restore();
      far.fails = () => ({ status: 400, type: 'document_parsing_exception' });
    },
    overload: () => {
      receiver.default = { status: 429, headers: { 'retry-after': '7' }, body: '{}' };
    },
  };
}
