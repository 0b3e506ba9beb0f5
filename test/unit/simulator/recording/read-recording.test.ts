// The text of a recording → its lines, or every fault with its line; files that cannot be read.
import assert from 'node:assert/strict';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { BridgeError } from '../../../../src/errors.ts';
import { formatFault } from '../../../../src/schema/faults.ts';
import {
  parseRecording,
  type ReadRecording,
  readRecording,
} from '../../../../src/simulator/recording/read-recording.ts';
import { folderOf } from '../../../support/folder.ts';
import { documentOf, eventOf } from '../../../virtual/recording-fixture.ts';

const HEADER = { recording: 1, startedAt: '2026-11-21T14:00:00.000Z', anonymised: false };
const DOCUMENT = documentOf(2, eventOf());
const ndjson = (...lines: readonly unknown[]) =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');

function read(...lines: readonly unknown[]): ReadRecording {
  const recording = parseRecording(ndjson(...lines));
  assert.ok(!('faults' in recording), JSON.stringify(recording));
  return recording;
}

function faults(...lines: readonly unknown[]): readonly string[] {
  const recording = parseRecording(ndjson(...lines));
  assert.ok('faults' in recording);
  return recording.faults.map(formatFault);
}

const at = (second: number) => `2026-11-21T14:00:${String(second).padStart(2, '0')}.500Z`;

test('every kind of line is read with its time since the start, and blank lines are skipped', () => {
  const recording = read(
    HEADER,
    { at: at(1), vm: 'a', apiVersion: '2020-07-01', document: DOCUMENT },
    '',
    { at: at(2), answer: { reset: true } },
    { at: at(2), unchanged: true },
    { at: at(3), post: { StartRequests: [], status: 200 } },
    '',
  );
  assert.deepEqual(recording, {
    startedAtMs: Date.parse(HEADER.startedAt),
    anonymised: false,
    isCut: false,
    lines: [
      { afterMs: 1500, vm: 'a', apiVersion: '2020-07-01', content: { kind: 'document', document: DOCUMENT } },
      { afterMs: 2500, vm: null, apiVersion: null, content: { kind: 'answer', answer: { reset: true } } },
      { afterMs: 2500, vm: null, apiVersion: null, content: { kind: 'unchanged' } },
      { afterMs: 3500, vm: null, apiVersion: null, content: { kind: 'post' } },
    ],
  });
});

test("a line without an api-version has the header's, and lines may have Windows line ends", () => {
  const text = `\uFEFF${ndjson({ ...HEADER, apiVersion: '2019-08-01' }, { at: at(1), document: DOCUMENT }).replaceAll('\n', '\r\n')}\r\n`;
  const recording = parseRecording(text);
  assert.ok(!('faults' in recording));
  assert.equal(recording.lines[0]?.apiVersion, '2019-08-01');
});

test('an incomplete last line is omitted; any other incomplete line is a fault', () => {
  const cut = '{"at":"2026-11-21T14:00:0';
  assert.deepEqual(
    [read(HEADER, { at: at(1), document: DOCUMENT }, cut)].map(({ isCut, lines }) => [isCut, lines.length]),
    [[true, 1]],
  );
  assert.deepEqual(faults(HEADER, cut, { at: at(1), document: DOCUMENT }), ['line 2: is not JSON']);
  assert.deepEqual(faults(HEADER, { at: at(1), document: DOCUMENT }, cut, ''), ['line 3: is not JSON']);
});

test("every fault is reported with its line, and none shows the file's content", () => {
  const told = faults(
    { ...HEADER, startedAt: 'hunter2' },
    'hunter2',
    '["hunter2"]',
    { at: at(1) },
    { at: at(1), document: DOCUMENT, unchanged: true },
    { at: 'hunter2', document: DOCUMENT },
    {
      document: { DocumentIncarnation: 1.5, Events: [{ ...eventOf(), EventStatus: 'hunter2', Resources: 'hunter2' }] },
    },
    { at: at(1), answer: { body: 'x' } },
    { at: at(1), answer: { status: 99 } },
    { at: at(1), document: documentOf(1, eventOf(), eventOf()) },
    HEADER,
  );
  assert.deepEqual(told, [
    'line 1: startedAt: must be a time such as 2026-11-21T14:00:00.000Z',
    'line 2: is not JSON',
    'line 3: is not a JSON object',
    'line 4: must have one of document, answer, unchanged, post',
    'line 5: must have one of document, answer, unchanged, post',
    'line 6: at: must be a time such as 2026-11-21T14:00:00.000Z',
    'line 7: at: is missing',
    'line 7: document.DocumentIncarnation: must be a whole number',
    'line 7: document.Events[0].Resources: must be a list, not a text',
    'line 7: document.Events[0].EventStatus: is not an allowed value (allowed: Scheduled, Started)',
    'line 8: answer: must have either status or reset',
    'line 9: answer.status: must be at least 200',
    'line 10: document.Events: lists an EventId twice',
    'line 11: is a header, but only the first line can be one',
  ]);
});

test('a recording of another version is refused', () => {
  assert.deepEqual(faults({ ...HEADER, recording: 2 }, { at: at(1), document: DOCUMENT }), [
    'line 1: recording: must be 1: another release wrote this file',
  ]);
});

test('times that go back are faults, also before the start', () => {
  const line = (second: number) => ({ at: at(second), document: DOCUMENT });
  assert.deepEqual(faults(HEADER, line(5), line(4), line(5), { ...line(1), at: '2026-11-21T13:59:59Z' }), [
    'line 3: at: is earlier than the line before it',
    'line 5: at: is earlier than the line before it',
  ]);
});

test('an empty file and one with nothing to play are refused', () => {
  assert.deepEqual(faults(''), ['it is empty']);
  assert.deepEqual(faults('', ' ', ''), ['it is empty']);
  const nothing = ['it has no document and no answer, so there is nothing to play'];
  assert.deepEqual(faults(HEADER), nothing);
  assert.deepEqual(faults(HEADER, { at: at(1), post: {} }, { at: at(1), unchanged: true }), nothing);
});

test('a capture of plain documents is read, one second apart if they have no time', () => {
  const recording = read(documentOf(1), documentOf(2, eventOf()), documentOf(3));
  assert.equal(recording.startedAtMs, null);
  assert.deepEqual(
    recording.lines.map(({ afterMs, content }) => [afterMs, content.kind]),
    [
      [0, 'document'],
      [1000, 'document'],
      [2000, 'document'],
    ],
  );
});

test('plain documents may have times, which are not part of the document', () => {
  const recording = read(documentOf(1), { at: at(5), ...documentOf(2) }, documentOf(3), {
    at: at(9),
    ...documentOf(4),
  });
  assert.equal(recording.startedAtMs, Date.parse(at(4)));
  assert.deepEqual(
    recording.lines.map(({ afterMs }) => afterMs),
    [0, 1000, 2000, 5000],
  );
  assert.deepEqual(recording.lines[1]?.content, { kind: 'document', document: documentOf(2) });
  assert.deepEqual(faults({ at: 5, ...documentOf(2) }), ['line 1: at: must be a text, not a number']);
});

function fileOf(t: TestContext, text: string): string {
  const path = join(folderOf(t), 'night.ndjson');
  writeFileSync(path, text);
  return path;
}

async function refusal(path: string): Promise<string> {
  try {
    await readRecording(path);
  } catch (error) {
    assert.ok(error instanceof BridgeError);
    assert.equal(error.code, 'BRIDGE_SIMULATOR_RECORDING');
    return error.message;
  }
  assert.fail('it was read');
}

test('a file is read from its path', async (t) => {
  const recording = await readRecording(fileOf(t, ndjson(HEADER, { at: at(1), document: DOCUMENT })));
  assert.equal(recording.lines.length, 1);
});

test('a file with faults is refused with its path and at most twenty faults', async (t) => {
  const path = fileOf(t, ndjson(HEADER, ...Array.from({ length: 25 }, () => '{}')));
  const message = await refusal(path);
  assert.ok(message.startsWith(`cannot play ${path}: line 2: must have`), message);
  assert.ok(message.includes('line 21') && !message.includes('line 22') && message.endsWith('; and 5 more'), message);
});

test('a file that does not exist, is a folder or is too large is refused', async (t) => {
  const path = fileOf(t, '');
  assert.match(await refusal(`${path}.not`), /ENOENT/);
  assert.match(await refusal(join(path, '..')), /EISDIR/);
  truncateSync(path, 64 * 1024 * 1024 + 1);
  assert.match(await refusal(path), /larger than 67108864 bytes/);
});
