// Lines → a file of whole lines, flushed one by one, that never overwrites another.
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { BridgeError } from '../../../../src/errors.ts';
import { startRecording } from '../../../../src/simulator/recording/recorder.ts';
import { RecordingFile } from '../../../../src/simulator/recording/recording-file.ts';
import { systemDeps } from '../../../../src/time/system.ts';
import { folderOf } from '../../../support/folder.ts';
import { poll } from '../../../support/poll.ts';
import { answer, documentOf, get, START_MS } from '../../../virtual/recording-fixture.ts';

const HEADER = { recording: 1 };

async function create(t: TestContext, path: string): Promise<{ file: RecordingFile; failures: BridgeError[] }> {
  const failures: BridgeError[] = [];
  const file = await RecordingFile.create(path, HEADER, (error) => failures.push(error));
  t.after(() => file[Symbol.asyncDispose]());
  return { file, failures };
}

const refusal = (path: string) =>
  RecordingFile.create(path, HEADER, () => {}).then(
    () => assert.fail('it was taken'),
    (error: unknown) => {
      assert.ok(error instanceof BridgeError);
      assert.equal(error.code, 'BRIDGE_SIMULATOR_RECORDING');
      return error.message;
    },
  );

test('lines are on disk, in order and after the header, while the recording goes on', async (t) => {
  const path = join(folderOf(t), 'night.ndjson');
  const { file } = await create(t, path);
  file.append({ a: 1 });
  file.append({ b: 'ü\n' });
  await poll(() => readFileSync(path, 'utf8') === '{"recording":1}\n{"a":1}\n{"b":"ü\\n"}\n', 'the lines');
  file.append({ c: 3 });
  await poll(() => readFileSync(path, 'utf8').endsWith('{"c":3}\n'), 'the next line');
});

test('closing writes waiting lines, accepts no more, and is idempotent', async (t) => {
  const path = join(folderOf(t), 'night.ndjson');
  const { file, failures } = await create(t, path);
  for (let line = 0; line < 100; line++) file.append({ line });
  await file[Symbol.asyncDispose]();
  await file[Symbol.asyncDispose]();
  file.append({ line: 100 });
  assert.equal(readFileSync(path, 'utf8').split('\n').length, 102);
  assert.deepEqual(failures, []);
});

test('the file is readable only by this user, and empty until the first line, so that the next start can use it', async (t) => {
  const path = join(folderOf(t), 'night.ndjson');
  await (await create(t, path)).file[Symbol.asyncDispose]();
  assert.deepEqual([statSync(path).size, statSync(path).mode & 0o777], [0, 0o600]);
  const { file } = await create(t, path);
  file.append({});
  await file[Symbol.asyncDispose]();
  assert.equal(readFileSync(path, 'utf8'), '{"recording":1}\n{}\n');
});

test('a file that is not empty is refused and not changed', async (t) => {
  const path = join(folderOf(t), 'night.ndjson');
  writeFileSync(path, 'mine');
  assert.match(await refusal(path), /night\.ndjson: it is not empty, and recording never overwrites a file/);
  assert.equal(readFileSync(path, 'utf8'), 'mine');
});

test('a folder and a path in a missing folder are refused', async (t) => {
  const folder = folderOf(t);
  assert.match(await refusal(folder), /it is not a regular file/);
  assert.match(await refusal(join(folder, 'not', 'here')), /ENOENT/);
});

test('recording stops before the file is too large for a replay, and reports that once', async (t) => {
  const path = join(folderOf(t), 'night.ndjson');
  const { file, failures } = await create(t, path);
  const eighth = 'x'.repeat(8 * 1024 * 1024 - 100);
  for (let line = 0; line < 10; line++) {
    file.append({ eighth });
    await poll(() => failures.length > 0 || statSync(path).size > (line + 1) * eighth.length, 'the line');
  }
  assert.deepEqual(
    failures.map(({ code, message }) => [code, /night\.ndjson: it has reached 67108864 bytes/.test(message)]),
    [['BRIDGE_SIMULATOR_RECORDING', true]],
  );
  await file[Symbol.asyncDispose]();
  assert.equal(readFileSync(path, 'utf8').split('\n').length, 1 + 8 + 1);
});

test('the queue for a slow disk is bounded, and its lines are still written', async (t) => {
  const path = join(folderOf(t), 'night.ndjson');
  const { file, failures } = await create(t, path);
  const half = 'x'.repeat(9 * 1024 * 1024);
  file.append({ half });
  file.append({ half });
  assert.match(failures[0]?.message ?? '', /the disk is too slow/);
  await file[Symbol.asyncDispose]();
  assert.equal(statSync(path).size, `{"recording":1}\n{"half":""}\n`.length + half.length);
});

test('a value that cannot become JSON stops the recording with a log line, but not the proxy', async (t) => {
  const path = join(folderOf(t), 'night.ndjson');
  const logged: unknown[] = [];
  const logger = { error: (...said: unknown[]) => void logged.push(said) };
  await using recording = await startRecording({
    path,
    anonymise: false,
    startedAtMs: START_MS,
    deps: systemDeps(),
    logger,
  });
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  recording.record(get(), answer(200, `{"DocumentIncarnation":1,"Events":[],"x":${deep}}`), START_MS);
  recording.record(get(), answer(200, documentOf(2)), START_MS);
  await recording[Symbol.asyncDispose]();
  assert.deepEqual([logged.length, statSync(path).size], [1, 0]);
});

test('a recording begins with its version, its start and `anonymised`', async (t) => {
  for (const anonymise of [false, true]) {
    const path = join(folderOf(t), 'night.ndjson');
    const recording = await startRecording({ path, anonymise, startedAtMs: START_MS, deps: systemDeps() });
    recording.record(get(), answer(200, documentOf(1)), START_MS + 5, 'web_0');
    await recording[Symbol.asyncDispose]();
    const vm = anonymise ? 'vm_0' : 'web_0';
    assert.deepEqual(
      readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
      [
        { recording: 1, startedAt: '2026-11-21T14:00:00.000Z', anonymised: anonymise },
        { at: '2026-11-21T14:00:00.005Z', vm, apiVersion: '2020-07-01', document: documentOf(1) },
      ],
    );
  }
});
