// The adapter contract, clause by clause, for file, whose folder can go and whose disk can stop.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { CloudEvent } from 'cloudevents';
import type { Disk } from '../../../adapters/file/disk.ts';
import { FileAdapter, fileSink } from '../../../adapters/file/file.ts';
import { folderOf } from '../../support/folder.ts';
import { type Arrival, type FarSide, testAdapter } from '../contract.ts';
import { faultyDisk } from './faulty-disk.ts';

/** The disk that each far side's file is on, by its path. */
const disks = new Map<string, Disk>();

for (const rotate of [undefined, { size: '4KiB', keep: 1000 }]) {
  testAdapter({
    definition: { ...fileSink, create: (options, deps) => new FileAdapter(options, deps, disks.get(options.path)) },
    variant: rotate ? 'rotated' : 'growing',
    start: (t) => startFolder(t, rotate),
    awayIs: 'misconfigured',
    skip: {
      'a key that gets no answer does not hold up another': 'one file takes one write at a time',
      'a refusal becomes a dead letter at once': 'a file refuses no line',
      'an overload is retried after the pause that the far side asks for': 'a file asks for no pause',
    },
  });
}

async function startFolder(t: TestContext, rotate: object | undefined): Promise<FarSide> {
  const folder = join(folderOf(t), 'logs');
  const path = join(folder, 'events.ndjson');
  mkdirSync(folder);
  let [calls, isStuck] = [0, false];
  let answer: { readonly promise: Promise<void>; readonly resolve: () => void } | null = null;
  const before = async (name: string) => {
    calls += 1;
    if (name !== 'datasync' || answer === null) return;
    isStuck = true;
    await answer.promise;
  };
  disks.set(path, faultyDisk(before));
  return {
    options: rotate ? { path, rotate } : { path },
    secrets: {},
    arrivals: () => filesIn(folder).flatMap((name) => arrivals(readFileSync(join(folder, name), 'utf8'))),
    contacts: () => calls + filesIn(folder).length,
    hang: () => {
      answer = Promise.withResolvers();
    },
    isStuck: () => isStuck,
    stuckBytes: 0,
    accept: () => {
      answer?.resolve();
      answer = null;
    },
    leave: async () => rmSync(folder, { recursive: true }),
    comeBack: async () => void mkdirSync(folder),
  };
}

/** The oldest first. */
function filesIn(folder: string): readonly string[] {
  const numberOf = (name: string) => Number(/\.(\d+)$/.exec(name)?.[1] ?? 0);
  return existsSync(folder) ? readdirSync(folder).sort((a, b) => numberOf(b) - numberOf(a)) : [];
}

/** Of whole lines alone. */
function arrivals(text: string): readonly Arrival[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => ({ bytes: Buffer.from(line), event: new CloudEvent(JSON.parse(line), true) }));
}
