// A seed → one maintenance with an I/O error at the Nth call on its store, for every N or some.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SECOND } from '../../virtual/virtual-bridge.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { type Check, expectEnough } from './check.ts';
import { BEGIN_MS, MAINTENANCES } from './maintenances.ts';
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

/** The short profile lets one call of so many fail, by chance. */
const SHORT_ONE_OF = 250;

export const failEachCall: Check = async ({ seed, isLong, share }) => {
  const usual = await inFolder((folder) => {
    mkdirSync(join(folder, STORE, '..'), { recursive: true });
    return resume(folder, []);
  });
  const { calls } = await inFolder((folder) => runWith(folder, null));
  const { random } = new VirtualTime({ seed });
  const chosen = Array.from({ length: calls }, (_, index) => index + 1).filter(
    () => isLong || random() * SHORT_ONE_OF < 1,
  );
  const numbers = chosen.filter((_, index) => index % share.of === share.index);
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
  const runs = numbers.length * 2;
  expectEnough(calls, 300, 'calls');
  expectEnough(runs, 2, 'runs');
  return {
    did: `${runs} runs over ${calls} calls, ${refused} ended with an error of the store`,
    maintenances: runs * MAINTENANCES,
    kills: runs - refused,
  };
};

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
