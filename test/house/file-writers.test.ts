// The imports of node:fs and node:sqlite → each source that writes files is listed.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import test from 'node:test';

const ROOT = join(import.meta.dirname, '../..');

/** Each source that can write: what replays its crashes, or why it needs none. */
const WRITERS: Readonly<Record<string, string>> = {
  'adapters/command/start-faults.ts': 'reads only',
  'adapters/file/disk.ts': 'test/proof/files/file-sink-crashes.ts',
  'src/consumer/receive/prepared-state.ts': 'test/proof/files/file-state-crashes.ts',
  'src/outbox/database.ts': 'test/proof/files/store-crashes.ts',
  'src/outbox/disk/flush-names.ts': 'test/proof/files/set-aside-crashes.ts',
  'src/outbox/folder.ts': 'test/proof/files/set-aside-crashes.ts',
  'src/outbox/lock.ts': 'test/proof/files/store-crashes.ts',
  'src/outbox/disk/private-folder.ts': 'test/proof/files/store-crashes.ts',
  'src/secrets/regular-file.ts': 'reads only',
  'src/simulator/recording/read-recording.ts': 'reads only',
  'src/simulator/recording/recording-file.ts': 'test/unit/simulator/recording/read-recording.test.ts',
  'src/simulator/shipped-scenarios.ts': 'reads only',
  'src/verbs/demo.ts': 'a folder that is removed at the end of the demo',
  'src/verbs/init/new-files.ts': 'files for a person, who runs init again if one is missing',
  'src/verbs/policy.ts': 'reads only',
};

const IMPORT = /import (?:\{([^}]*)\}|[^{}'"]+) from ['"](?:node:)?(?:fs|fs\/promises|sqlite)['"]/g;
const DYNAMIC = /(?:import|require)\(['"](?:node:)?(?:fs|fs\/promises|sqlite)['"]\)/;
const READS = new Set(
  'access,accessSync,closeSync,constants,existsSync,fstatSync,fsyncSync,lstatSync,readFile,readFileSync,readdir,readdirSync,readlink,readlinkSync,readSync,realpath,realpathSync,stat,statSync,statfs,statfsSync,watch,watchFile,unwatchFile,StatementSync,SQLInputValue,Stats,FileHandle,PathLike,FSWatcher'.split(
    ',',
  ),
);

function writes(path: string): boolean {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const names = [...text.matchAll(IMPORT)]
    .filter(([statement]) => !statement.startsWith('import type'))
    .flatMap(([, list = '*']) => list.split(',').map((name) => name.trim().replace(/^type /, '')))
    .map((name) => name.replace(/ as .*/, ''))
    .filter((name) => name !== '');
  return DYNAMIC.test(text) || names.some((name) => !READS.has(name));
}

test('each source that can write a file is listed with the test of its crashes, and no other', () => {
  const found = globSync(['src/**/*.ts', 'adapters/**/*.ts'], { cwd: ROOT }).map(normalize).filter(writes).sort();
  assert.deepEqual(found, Object.keys(WRITERS).sort());
});

test('each listed test of crashes exists', () => {
  const missing = Object.values(WRITERS).filter((place) => place.startsWith('test/') && !existsSync(join(ROOT, place)));
  assert.deepEqual(missing, []);
});
