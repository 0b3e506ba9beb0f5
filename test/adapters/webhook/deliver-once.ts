// A URL, options as JSON → a program that posts one sample delivery and prints its outcome.

import * as v from 'valibot';
import { webhookSink } from '../../../adapters/webhook/webhook.ts';
import { manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

const [url, more = '{}'] = process.argv.slice(2);
const options = v.parse(webhookSink.options, {
  url,
  allowInsecure: true,
  allowPrivate: ['127.0.0.0/8'],
  ...JSON.parse(more),
});
openSecrets(options, {});
await using adapter = manageAdapter(webhookSink.create(options, adapterDeps()), 'under-test');
const [outcome] = await adapter.deliver([sampleDelivery()], new AbortController().signal);
process.stdout.write(`${outcome instanceof Error ? outcome.code : outcome}\n`);
