// A full disk, or a pipe for a file → a recording refused, or ended with whole lines.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { BridgeError } from '../../../src/errors.ts';
import { startRecording } from '../../../src/simulator/recording/recorder.ts';
import { RecordingFile } from '../../../src/simulator/recording/recording-file.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { smallDisk } from '../../support/small-disk.ts';
import { answer, documentOf, get, START_MS } from '../../virtual/recording-fixture.ts';

test('a pipe is refused', async (t) => {
  const pipe = join(folderOf(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  await assert.rejects(
    RecordingFile.create(pipe, { recording: 1 }, () => {}),
    { code: 'BRIDGE_SIMULATOR_RECORDING', message: /it is not a regular file/ },
  );
});

test('a disk that is full at the end is reported too', async (t) => {
  const disk = smallDisk(t, '1m');
  if ('reason' in disk) return t.skip(disk.reason);
  const failures: BridgeError[] = [];
  const file = await RecordingFile.create(join(disk.folder, 'night.ndjson'), { recording: 1 }, (error) =>
    failures.push(error),
  );
  t.after(() => file[Symbol.asyncDispose]());
  disk.fill();
  file.append({ line: 'x'.repeat(10_000) });
  await file[Symbol.asyncDispose]();
  assert.equal(failures.length, 1);
});

test('if the disk is full, recording stops with a log line and whole lines, and later answers cause no error', async (t) => {
  const disk = smallDisk(t, '1m');
  if ('reason' in disk) return t.skip(disk.reason);
  const path = join(disk.folder, 'night.ndjson');
  const logged: unknown[] = [];
  const logger = { error: (...said: unknown[]) => void logged.push(said) };
  await using recording = await startRecording({
    path,
    anonymise: false,
    startedAtMs: START_MS,
    deps: systemDeps(),
    logger,
  });
  recording.record(get(), answer(200, documentOf(1)), START_MS);
  await poll(() => statSync(path).size > 0, 'the first lines');
  const before = readFileSync(path, 'utf8');
  disk.fill();
  recording.record(get(), answer(503, 'x'.repeat(10_000)), START_MS);
  await poll(() => logged.length > 0, 'the log line');
  disk.free();
  recording.record(get(), answer(200, documentOf(2)), START_MS);
  await recording[Symbol.asyncDispose]();
  assert.equal(readFileSync(path, 'utf8'), before);
  assert.equal(logged.length, 1);
  assert.match(
    JSON.stringify(logged),
    /BRIDGE_SIMULATOR_RECORDING.*ENOSPC.*recording has stopped, and the lines before are kept/,
  );
});
