// A program for tests: posts one sample delivery to the URL of its argument and prints the outcome, or the code of the failure.

import * as v from 'valibot';
import { webhook } from '../../../adapters/webhook/webhook.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

const options = v.parse(webhook.options, { url: process.argv[2], allowInsecure: true, allowPrivate: ['127.0.0.0/8'] });
await using adapter = webhook.create(options, adapterDeps());
const [outcome] = await adapter.deliver([sampleDelivery()], new AbortController().signal);
process.stdout.write(`${outcome instanceof Error ? outcome.code : outcome}\n`);
