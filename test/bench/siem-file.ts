// A folder → a file that a sink appends to; a plain loop appends the same batches to another one.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SiemFarSide } from './siem.ts';

/** In a folder on the disk of the bridge's store. */
export async function fileFarSide(folder: string): Promise<SiemFarSide> {
  const path = join(folder, 'events.ndjson');
  let before = 0;
  return {
    sink: { path },
    forget: () => {
      before = statSync(path).size;
    },
    sends: (calls) => {
      const lines = readFileSync(path)
        .subarray(before)
        .toString()
        .split(/(?<=\n)/);
      const batches = calls.map(({ accepted }) => Buffer.from(lines.splice(0, accepted).join('')));
      const sends = batches.map((bytes) => ({ base64: bytes.toString('base64') }));
      return { way: 'append', to: `${path}.plain`, inFlight: 1, settleMs: 0, sends };
    },
    [Symbol.asyncDispose]: async () => {},
  };
}
