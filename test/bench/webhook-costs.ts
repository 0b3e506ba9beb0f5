// A CloudEvent of an ordinary maintenance → microseconds to make a request of it and to sign it.

import { encoder } from '../../adapters/webhook/encoder.ts';
import { signer } from '../../adapters/webhook/signing.ts';
import { templateEncoder } from '../../adapters/webhook/template/template-encoder.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import { readWebhookSecret } from '../../src/secrets/webhook-secret.ts';
import { sampleDelivery } from '../adapters/sample-deliveries.ts';
import { median, type Row } from './figures.ts';

const ROUNDS = 20;
const EVENTS = 1000;
const BATCH = 100;
const HMAC = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const ED25519 = `whsk_${Buffer.alloc(32, 7).toString('base64')}`;
/** So that its size is that of a change's CloudEvent. */
const PADDING = 600;

const deliveries = Array.from({ length: EVENTS }, (_, seq) => sampleDelivery({ seq, padding: PADDING }));
const batches = Array.from({ length: EVENTS / BATCH }, (_, batch) =>
  deliveries.slice(batch * BATCH, (batch + 1) * BATCH),
);

export async function webhookCosts(): Promise<readonly Row[]> {
  const slack = templateEncoder(
    { template: { shipped: 'slack' }, contentType: 'application/json', values: {} },
    'bench',
  );
  const ways: readonly (readonly [what: string, work: () => unknown])[] = [
    ['encoding, structured', each(encoder({ mode: 'structured' }, 'bench'))],
    ['encoding, binary', each(encoder({ mode: 'binary' }, 'bench'))],
    [`encoding, batches of ${BATCH}`, () => batches.map(encoder({ mode: 'batch' }, 'bench'))],
    ['encoding, template (slack)', () => inTurn((delivery) => slack([delivery]))],
    ['signing, v1', signing(HMAC)],
    ['signing, v1a', signing(ED25519)],
  ];
  const rows: Row[] = [];
  for (const [what, work] of ways)
    rows.push({ what: `webhook ${what}`, figure: `${(await costUs(work)).toFixed(1)} µs an event`, goal: '' });
  return rows;
}

function each(encode: (batch: readonly Delivery[]) => unknown): () => unknown {
  return () => deliveries.map((delivery) => encode([delivery]));
}

/** One after the other, as a sink's lane has them. */
async function inTurn(encode: (delivery: Delivery) => Promise<unknown>): Promise<void> {
  for (const delivery of deliveries) await encode(delivery);
}

function signing(secret: string): () => unknown {
  const key = readWebhookSecret(secret);
  if ('fault' in key) throw new Error(key.fault);
  const sign = signer([key]);
  return () => deliveries.map(({ id, bytes }) => sign(id, 1776723119, bytes));
}

async function costUs(work: () => unknown): Promise<number> {
  const samples: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const startedMs = performance.now();
    await work();
    samples.push(performance.now() - startedMs);
  }
  return (median(samples) * 1000) / EVENTS;
}
