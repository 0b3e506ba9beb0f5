// Sample CloudEvents → docs/receive/samples/FORM/CHANGE.json; `npm run wire-samples` writes them.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { encodeRecord } from '../../adapters/kafka/sink/record-encoder.ts';
import { busMessageEncoder } from '../../adapters/service-bus/sink/message-encoder.ts';
import { WebhookAdapter } from '../../adapters/webhook/webhook.ts';
import { webhookOptions } from '../../adapters/webhook/webhook-options.ts';
import { sampleEntries } from '../../src/cloudevents/samples.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import { WebhookReceiver } from '../far-sides/webhook-receiver.ts';
import { adapterDeps } from './adapter-deps.ts';

export const SAMPLES_FOLDER = join(import.meta.dirname, '../../docs/receive/samples');
const CONTEXT = {
  source: '/subscriptions/00000000-0000-0000-0000-000000000000/resourcegroups/shop',
  typePrefix: 'io.github.scheduled-events-bridge',
};
/** Headers of the connection, which differ from receiver to receiver. */
const OF_CONNECTION = ['host', 'connection'];

/** Every file by its path below the folder, with its text. */
export async function wireSamples(): Promise<Readonly<Record<string, string>>> {
  const deliveries = sampleEntries(CONTEXT).map((entry, index): Delivery => {
    const { id, change, partitionKey, timeMs, bytes } = entry;
    return {
      seq: index + 1,
      sink: 'sample',
      id,
      change,
      partitionKey,
      timeMs,
      bytes,
      queuedAtMs: timeMs,
      attempts: 0,
      endedAtMs: null,
    };
  });
  const files: Record<string, string> = {};
  for (const delivery of deliveries) {
    for (const [form, sample] of Object.entries(await formsOf(delivery)))
      files[`${form}/${delivery.change}.json`] = `${JSON.stringify(sample, null, 2)}\n`;
  }
  return files;
}

async function formsOf(delivery: Delivery): Promise<Readonly<Record<string, object>>> {
  return {
    'http-structured': await posted(delivery, 'structured'),
    'http-binary': await posted(delivery, 'binary'),
    'http-batch': await posted(delivery, 'batch'),
    'kafka-structured': record(delivery, 'structured'),
    'kafka-binary': record(delivery, 'binary'),
    'service-bus-structured': message(delivery, 'structured'),
    'service-bus-binary': message(delivery, 'binary'),
  };
}

/** As a receiver on loopback gets it. */
async function posted(delivery: Delivery, mode: string): Promise<object> {
  await using receiver = await WebhookReceiver.start();
  const options = { url: receiver.url, mode, allowInsecure: true, allowPrivate: ['127.0.0.0/8'] };
  const adapter = new WebhookAdapter(v.parse(webhookOptions, options), adapterDeps());
  await adapter.deliver([delivery], new AbortController().signal);
  adapter.close();
  const [request] = receiver.requests;
  const headers = Object.entries(request?.headers ?? {}).filter(([name]) => !OF_CONNECTION.includes(name));
  return { headers: Object.fromEntries(headers), body: request?.body.toString() };
}

function record(delivery: Delivery, mode: 'structured' | 'binary'): object {
  const { key, headers, value, timestamp } = encodeRecord(delivery, { mode, keyed: true }, 'sample');
  return { key, timestamp: Number(timestamp), headers, body: value.toString() };
}

function message(delivery: Delivery, mode: 'structured' | 'binary'): object {
  const options = { mode, sessions: false, attributePrefix: 'underscore' } as const;
  const {
    body,
    applicationProperties = {},
    ...properties
  } = busMessageEncoder(options, 'sample', { wallMs: () => delivery.timeMs })(delivery);
  return { properties, applicationProperties, body: String(body) };
}

if (import.meta.main) {
  const files = Object.entries(await wireSamples());
  for (const folder of new Set(files.map(([path]) => dirname(join(SAMPLES_FOLDER, path))))) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }
  for (const [path, text] of files) writeFileSync(join(SAMPLES_FOLDER, path), text);
}
