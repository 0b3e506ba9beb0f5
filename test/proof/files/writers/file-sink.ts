// A folder, files to keep and a seed → a file sink; prints each accepted batch.
import { writeSync } from 'node:fs';
import { VirtualTime } from '../../../virtual/virtual-time.ts';
import { deliveryOf } from './file-lines.ts';
import { fileSinkIn } from './file-sink-in.ts';

const [folder = '', keep = '0', seed = '1'] = process.argv.slice(2);
const { random } = new VirtualTime({ seed: Number(seed) });
let number = 0;
// The second adapter begins as after a restart.
for (let adapter = fileSinkIn(folder, Number(keep)), batch = 0; batch < 40; batch++) {
  if (batch === 20) adapter = fileSinkIn(folder, Number(keep));
  const batchOf = Array.from({ length: 1 + Math.floor(random() * 5) }, () => deliveryOf(number++));
  const outcomes = await adapter.deliver(batchOf, new AbortController().signal);
  if (outcomes.some((outcome) => outcome !== 'accepted')) throw new Error('a line was not accepted');
  writeSync(1, `${number - 1}\n`);
}
