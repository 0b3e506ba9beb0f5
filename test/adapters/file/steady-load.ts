// A file sink → deliveries without a pause while others disturb the file; what is in the folder.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as v from 'valibot';
import { fileSink } from '../../../adapters/file/file.ts';
import { manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import { codeOf } from '../../../src/errors.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

const never = new AbortController().signal;

/**
 * Delivers `first`, then batches of 1 to 5 lines until `disturb` is through.
 * @returns the ids that were accepted, in order
 */
export async function deliverMeanwhile(
  options: object,
  disturb: () => Promise<void>,
  first: readonly Delivery[] = [],
): Promise<readonly string[]> {
  const adapter = manageAdapter(fileSink.create(v.parse(fileSink.options, options), adapterDeps()), 'under-test');
  const accepted: string[] = [];
  const deliver = async (batch: readonly Delivery[]) => {
    const outcomes = await adapter.deliver(batch, never);
    accepted.push(...batch.flatMap(({ id }, index) => (outcomes[index] === 'accepted' ? [id] : [])));
  };
  if (first.length > 0) await deliver(first);
  let goesOn = true;
  const disturbed = disturb().finally(() => {
    goesOn = false;
  });
  for (let seq = 1; goesOn; ) {
    await deliver(Array.from({ length: 1 + (seq % 5) }, () => sampleDelivery({ seq: seq++ })));
    // Lets the other side have its turn.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await disturbed;
  await adapter[Symbol.asyncDispose]();
  return accepted;
}

/**
 * The ids in all files of the folder, the oldest file first, the compressed ones too.
 * @throws where a line is not whole
 */
export function idsIn(folder: string): readonly string[] {
  for (;;) {
    const names = readdirSync(folder).sort((a, b) => numberOf(b) - numberOf(a));
    const texts = names.map((name) => textOf(join(folder, name)));
    // One that was renamed meanwhile: the files are looked for again.
    if (!texts.includes(null)) return texts.flatMap((text) => idsOf(text ?? ''));
  }
}

export function idsOf(text: string): readonly string[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { id: string }).id);
}

/** Null where it is gone. */
function textOf(path: string): string | null {
  try {
    const bytes = readFileSync(path);
    return String(path.endsWith('.gz') ? gunzipSync(bytes) : bytes);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Of `events.ndjson.3.gz` 3. */
function numberOf(name: string): number {
  return Number(/\.(\d+)(?:\.gz)?$/.exec(name)?.[1] ?? 0);
}
