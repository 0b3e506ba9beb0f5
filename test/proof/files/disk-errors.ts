// A seed → one maintenance with an I/O error at the Nth call on its store, for every N or some.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SECOND } from '../../virtual/virtual-bridge.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { BEGIN_MS } from './maintenances.ts';
import { inFolder } from './recording.ts';
import { expectRest, expectSame, expectStored, resume, STORE } from './store-judge.ts';
import { ONE_THREAD } from './strace.ts';

/** The first event has come, started and ended, and the second has come. */
const SECONDS = 15;
const FAILING = 'pread64,pwrite64,fsync,fdatasync,ftruncate';
const WRITER = join(import.meta.dirname, 'writers/store-until.ts');

interface Run {
  readonly said: readonly string[];
  readonly errors: string;
  /** Calls on the store. */
  readonly calls: number;
}

export interface DiskErrors {
  readonly calls: number;
  readonly runs: number;
  /** Runs whose start ended with an error of the store. */
  readonly refused: number;
}

/** @param oneOf one call of so many, by chance @throws what is wrong, with the number of the call */
export async function failEachCall({
  seed,
  oneOf,
}: {
  readonly seed: number;
  readonly oneOf: number;
}): Promise<DiskErrors> {
  const usual = await inFolder((folder) => {
    mkdirSync(join(folder, STORE, '..'), { recursive: true });
    return resume(folder, []);
  });
  const { calls } = await inFolder((folder) => runWith(folder, null));
  const { random } = new VirtualTime({ seed });
  const numbers = Array.from({ length: calls }, (_, index) => index + 1).filter(() => random() * oneOf < 1);
  let refused = 0;
  for (const number of numbers) {
    // Once, and from then on until the process is killed.
    for (const when of [`${number}`, `${number}+`])
      await inFolder(async (folder) => {
        const { said, errors } = await runWith(folder, when);
        if (errors !== '') assert.match(errors, /BRIDGE_STORE_/, `call ${when}`);
        refused += Number(errors !== '');
        try {
          if (said.length > 0) expectStored(folder, said);
          const all = await resume(folder, said);
          if (when.endsWith('+')) expectRest(all, usual, BEGIN_MS + SECONDS * SECOND);
          else expectSame(all, usual);
        } catch (error) {
          throw new Error(`an error at call ${when} of ${calls}`, { cause: error });
        }
      });
  }
  return { calls, runs: numbers.length * 2, refused };
}

/** @param when strace's numbers of the calls that fail with EIO; null: none */
async function runWith(folder: string, when: string | null): Promise<Run> {
  const report = join(folder, 'strace.txt');
  const store = join(folder, STORE);
  mkdirSync(join(store, '..'), { recursive: true });
  const files = ['', '.new'].flatMap((of) =>
    ['', '-wal', '-journal'].map((kind) => join(store, `outbox.db${of}${kind}`)),
  );
  const paths = [...files, store].flatMap((path) => ['-P', path]);
  const fault = when === null ? [] : ['-e', `inject=${FAILING}:error=EIO:when=${when}`];
  const options = ['-f', '-qq', '-e', `trace=${FAILING}`, ...fault, ...paths, '-e', 'signal=none', '-o', report];
  const command = [...options, process.execPath, '--no-warnings', WRITER, folder, String(SECONDS)];
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    execFile('strace', command, { env: { ...process.env, ...ONE_THREAD } }, (_error, stdout, stderr) =>
      resolve({ stdout, stderr }),
    );
  });
  const said = stdout.split('\n').filter((words) => words !== '');
  return { said, errors: stderr, calls: readFileSync(report, 'utf8').split('\n').length - 1 };
}
