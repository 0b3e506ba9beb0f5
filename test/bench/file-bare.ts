// run --config FILE → the bridge, whose file sinks only write to an open file and flush it.
import { open } from 'node:fs/promises';
import type { AdapterDefinition } from '../../adapters/adapter.ts';
import { file } from '../../adapters/file/file.ts';
import type { FileOptions } from '../../adapters/file/file-options.ts';
import { runBridge } from './run-bridge.ts';
import { timed } from './timed.ts';

const LINE_END = Buffer.from('\n');

const bare: AdapterDefinition<FileOptions> = {
  ...file,
  create: ({ path, maxBatch, maxBatchBytes }) => {
    const opened = open(path, 'a');
    return {
      limits: { inFlight: 1, batch: maxBatch, batchBytes: maxBatchBytes },
      check: async () => null,
      deliver: async (batch) => {
        const handle = await opened;
        await handle.write(Buffer.concat(batch.flatMap(({ bytes }) => [bytes, LINE_END])));
        await handle.datasync();
        return batch.map(() => 'accepted');
      },
      close: async () => await (await opened).close(),
    };
  },
};

await runBridge([timed(bare)]);
