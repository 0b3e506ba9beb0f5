// A folder and a seed → a consumer's state that changes; prints each stored change.
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileState } from '../../../../src/consumer/receive/prepared-state.ts';
import { stateChanges } from './state-changes.ts';

const [folder = '', seed = '1'] = process.argv.slice(2);
const state = fileState(join(folder, 'state.json'));
for (const [number, { key, event }] of stateChanges(Number(seed)).entries()) {
  await (event === null ? state.delete(key) : state.set(key, event));
  writeSync(1, `${number}\n`);
}
