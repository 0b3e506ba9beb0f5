// The adapter contract → otlp in each encoding; the far side is a strict receiver on loopback.

import type { TestContext } from 'node:test';
import canonicalize from 'canonicalize';
import { CloudEvent } from 'cloudevents';
import { otlpSink } from '../../../adapters/otlp/otlp.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { LogReceiver, type ReceivedRecord } from '../../far-sides/otlp/log-receiver.ts';
import { type Arrival, type FarSide, testAdapter } from '../contract.ts';
import { httpSinkContract } from '../http-sink-contract.ts';
import type { HttpSink, HttpSinkSetup } from '../http-sink-under-test.ts';
import { receiverSwitches } from '../receiver-switches.ts';
import { startOtlp } from './start-otlp.ts';

for (const [encoding, compression] of [
  ['protobuf', 'gzip'],
  ['json', 'gzip'],
  ['protobuf', 'none'],
] as const)
  testAdapter({
    definition: otlpSink,
    variant: `${encoding}, ${compression}`,
    start: (t) => startReceiver(t, { encoding, compression }),
    onTheWire: canonical,
    awayIs: 'retry',
  });

for (const encoding of ['protobuf', 'json'] as const)
  httpSinkContract({
    name: `otlp, ${encoding}`,
    start: (t, setup) => startSink(t, encoding, setup),
    loneSurrogate: '\ufffd',
    rejection: { status: 'partialSuccess', makesRepeats: true },
    credential: {
      options: (file) => ({ headers: { 'api-key': { file } } }),
      value: 'old',
      reason: /answered 403: check the credentials/,
    },
    unsupportedBody: {
      options: {},
      advice: encoding === 'json' ? /encoding: protobuf, or compression: none/ : /encoding: json, or compression: none/,
    },
  });

async function startSink(t: TestContext, encoding: string, setup: HttpSinkSetup = {}): Promise<HttpSink> {
  const { adapter, deps, deliver, receiver } = await startOtlp(t, {
    ...setup,
    options: { encoding, ...setup.options },
  });
  const { http } = receiver;
  return {
    ...{ adapter, deps, deliver, receiver: http },
    arrivals: () =>
      receiver.records.map(({ attributes }) => ({
        id: attributes['cloudevents.event_id'],
        description: attributes['scheduled_events.description'],
      })),
    reject: (text) => {
      receiver.badText = text;
    },
    renewCredential: () => {
      const work = http.default;
      http.default = (response, socket, request) => {
        if (request.headers['api-key'] !== 'renewed') response.writeHead(403).end();
        else if (typeof work === 'function') work(response, socket, request);
      };
    },
  };
}

async function startReceiver(t: TestContext, options: Readonly<Record<string, unknown>>): Promise<FarSide> {
  const receiver = await LogReceiver.start();
  t.after(() => receiver[Symbol.asyncDispose]());
  const { http } = receiver;
  return {
    options: {
      type: 'otlp',
      url: { env: 'OTLP_URL' },
      headers: { 'api-key': { env: 'OTLP_KEY' } },
      allowInsecure: true,
      allowPrivate: ['127.0.0.0/8'],
      ...options,
    },
    secrets: {
      OTLP_URL: `${receiver.url}?key=query-nobody-may-see`,
      OTLP_KEY: 'key-nobody-may-see',
      query: 'query-nobody-may-see',
    },
    ...receiverSwitches(http),
    arrivals: () => receiver.records.map(arrivalOf),
    accept: () => receiver.restore(),
    refuse: () => {
      receiver.badText = 'Wartung';
    },
    overload: () => {
      http.default = { status: 429, headers: { 'retry-after': '7' } };
    },
  };
}

/** Attributes of the samples without a name in the semantic conventions. */
const OWN_ATTRIBUTES = ['datacontenttype', 'partitionkey'];

/** Restores the CloudEvent from its record. */
function arrivalOf({ record, attributes }: ReceivedRecord): Arrival {
  const own = Object.entries(attributes).filter(([name]) => name.startsWith('scheduled_events.'));
  const named = own.map(([name, value]) => [camelCase(name.slice('scheduled_events.'.length)), value] as const);
  const ofEvent = Object.entries(attributes).filter(([name]) => name.startsWith('cloudevents.event_'));
  const event = new CloudEvent(
    {
      ...Object.fromEntries(
        ofEvent.map(([name, value]) => [
          name.slice('cloudevents.event_'.length).replace('spec_version', 'specversion'),
          value,
        ]),
      ),
      ...Object.fromEntries(named.filter(([name]) => OWN_ATTRIBUTES.includes(name))),
      time: new Date(Number(BigInt(String(record['timeUnixNano'])) / 1_000_000n)).toISOString(),
      data: Object.fromEntries(named.filter(([name]) => !OWN_ATTRIBUTES.includes(name))),
    },
    true,
  );
  return { bytes: Buffer.from(canonicalize(event.toJSON()) ?? ''), event };
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function canonical({ bytes }: Delivery): Uint8Array {
  return Buffer.from(canonicalize(JSON.parse(Buffer.from(bytes).toString())) ?? '');
}
