// Every crash of a file sink → each accepted line is whole, and the next start continues.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '../found-fault.ts';
import { type Check, expectEnough } from './check.ts';
import { contentOf, crashAfter } from './disk-model.ts';
import { record, replay } from './recording.ts';
import { deliveryOf, lineOf } from './writers/file-lines.ts';
import { fileSinkIn } from './writers/file-sink-in.ts';

const AFTER_THE_CRASH = 1000;

/** @param keep how many older files rotation keeps; 0: without rotation */
export function proveFileSink(keep: number): Check {
  return async ({ seed, isLong, share }) => {
    const operations = await record('file-sink', String(keep), String(seed));
    const known = new Set(Array.from({ length: AFTER_THE_CRASH + 1 }, (_, number) => lineOf(number)));
    const options = { seed, share, draws: isLong ? 40 : 4 };
    const { crashes, states } = await replay(operations, options, async ({ after, said }, folder) => {
      const accepted = Number(said.at(-1) ?? -1);
      // A line that rotation had deleted by then may be missing.
      const there = linesIn(contentOf(crashAfter(operations, after).effects));
      const wanted = [...known].slice(0, accepted + 1).filter((line) => there.includes(line));
      expectLines(folder, wanted);
      assert.deepEqual(await fileSinkIn(folder, keep).deliver([deliveryOf(AFTER_THE_CRASH)], never), ['accepted']);
      // This rotation may have deleted the oldest file.
      expectLines(folder, [...(keep === 0 || keep > 50 ? wanted : []), lineOf(AFTER_THE_CRASH)]);
      for (const line of linesIn(read(folder)).filter(isEvent))
        expect(known.has(line), 'invented', `nobody sent ${line}`);
    });
    expectEnough(states, 150 / share.of, 'states');
    return { did: `${crashes} crashes, ${states} states` };
  };
}

const never = new AbortController().signal;

function read(folder: string): ReadonlyMap<string, Buffer> {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}

function linesIn(files: ReadonlyMap<string, Buffer | null>): readonly string[] {
  return [...files.values()].flatMap((bytes) => `${bytes ?? ''}`.split('\n'));
}

function expectLines(folder: string, wanted: readonly string[]): void {
  const found = new Set(linesIn(read(folder)));
  const missing = wanted.filter((line) => !found.has(line)).map((line) => line.slice(0, 50));
  expect(missing.length === 0, 'lost', missing.join('\n'));
}

/** A part of a line, which no reader takes for an event, is what a crash may leave. */
function isEvent(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
}
