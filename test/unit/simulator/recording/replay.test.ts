// A recording → a script, and the simulator's answers: the recorded documents with dates moved.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import { parseRecording } from '../../../../src/simulator/recording/read-recording.ts';
import type { RecordedDocument, RecordingLine } from '../../../../src/simulator/recording/recording.ts';
import { scriptOfRecording, toScript } from '../../../../src/simulator/recording/replay.ts';
import type { Script } from '../../../../src/simulator/script/script.ts';
import { folderOf } from '../../../support/folder.ts';
import {
  answer,
  documentOf,
  eventOf,
  get,
  post,
  type RecordedEvent,
  RecorderFixture,
  START_MS,
} from '../../../virtual/recording-fixture.ts';
import { Simulation, textOf } from '../../../virtual/simulation.ts';

const HEADER = { recording: 1, startedAt: new Date(START_MS).toISOString(), anonymised: false };
const VERSION = '2020-07-01';

function scriptOf(header: object | null, lines: readonly object[]): Script {
  const recording = parseRecording(
    [...(header ? [header] : []), ...lines].map((line) => JSON.stringify(line)).join('\n'),
  );
  assert.ok(!('faults' in recording), JSON.stringify(recording));
  return toScript(recording, 'night.ndjson');
}

type Said = Omit<RecordingLine, 'at'>;

const lineAt = (afterMs: number, said: Said): RecordingLine => ({
  at: new Date(START_MS + afterMs).toISOString(),
  apiVersion: VERSION,
  ...said,
});

/** A simulator whose replay begins this long after the recording began. */
function play(script: Script, laterMs: number): Simulation {
  const simulation = new Simulation({ startMs: START_MS + laterMs });
  const { group } = simulation.simulator;
  group.play(script);
  return simulation;
}

const incarnations = (script: Script) =>
  script.steps.map(({ afterMs, action }) => [afterMs, action.kind === 'document' ? action.incarnation : action.kind]);

test('the documents are played at their times, with their incarnations and EventIds, and with the recorded notice', () => {
  const notBefore = (ms: number) => new Date(ms).toUTCString();
  const scheduled = eventOf({ NotBefore: notBefore(START_MS + 900_000) });
  const script = scriptOf(HEADER, [
    lineAt(0, { document: documentOf(16) }),
    lineAt(60_000, { document: documentOf(18, scheduled) }),
    lineAt(960_000, { document: documentOf(19, eventOf({ EventStatus: 'Started', NotBefore: '' })) }),
    lineAt(1_560_000, { document: documentOf(2) }),
  ]);
  const dayMs = 86_400_000;
  const simulation = play(script, dayMs);
  assert.deepEqual(simulation.document(), documentOf(16));
  simulation.advance('1m');
  assert.deepEqual(
    simulation.document(),
    documentOf(18, { ...scheduled, NotBefore: notBefore(START_MS + 900_000 + dayMs) }),
  );
  simulation.advance('15m');
  assert.deepEqual(simulation.statuses(), [[scheduled.EventId, 'Started']]);
  simulation.advance('10m');
  assert.deepEqual(simulation.document(), documentOf(2));
  simulation.advance('30d');
  assert.deepEqual(simulation.document(), documentOf(2));
});

test('a document is answered byte for byte as recorded, in any order of keys, with missing and additional fields (F-98)', () => {
  const bytes = (order: readonly string[], status: string, notBefore: string) => {
    const values: Readonly<Record<string, unknown>> = {
      EventId: 'B26AE0FC-4719-4C0C-8C10-BC7C2F2C8C4E',
      EventStatus: status,
      EventType: 'Preempt',
      ResourceType: 'VirtualMachine',
      Resources: ['pool_3'],
      NotBefore: notBefore,
      Description: '',
      EventSource: 'Platform',
      New: { a: [1] },
    };
    const event = Object.fromEntries(order.map((key) => [key, values[key]]));
    return JSON.stringify({ DocumentIncarnation: 7, Events: [event] });
  };
  const real = [
    'EventId',
    'EventStatus',
    'EventType',
    'ResourceType',
    'Resources',
    'NotBefore',
    'Description',
    'EventSource',
  ];
  const odd = ['New', 'EventSource', 'Resources', 'NotBefore', 'EventType', 'EventStatus', 'ResourceType', 'EventId'];
  for (const order of [real, odd]) {
    const look = (text: string) => lineAt(0, { document: JSON.parse(text) as RecordedDocument });
    const scheduled = bytes(order, 'Scheduled', new Date(START_MS + 30_000).toUTCString());
    const script = scriptOf(HEADER, [
      look(scheduled),
      { ...look(bytes(order, 'Started', '')), at: new Date(START_MS + 9000).toISOString() },
    ]);
    const simulation = play(script, 0);
    assert.equal(textOf(simulation.get()), scheduled);
    simulation.advance('9s');
    assert.equal(textOf(simulation.get()), bytes(order, 'Started', ''));
    const capture = play(scriptOf(null, [JSON.parse(scheduled) as object]), 86_400_000);
    assert.equal(textOf(capture.get()), scheduled, 'of a bare document too');
  }
});

test('an approval gets 200 and changes nothing: the recording continues', () => {
  const simulation = play(scriptOf(HEADER, [lineAt(0, { document: documentOf(2, eventOf()) })]), 0);
  const [before] = [simulation.document()];
  assert.equal(simulation.approve(eventOf().EventId.toLowerCase()).status, 200);
  assert.equal(simulation.approve('unknown').status, 400);
  assert.deepEqual(simulation.document(), before);
});

test('an unexpected answer lasts until the next line, and only for GET', () => {
  const simulation = play(
    scriptOf(HEADER, [
      lineAt(0, { document: documentOf(1) }),
      lineAt(10_000, { answer: { status: 504, contentType: 'text/html', retryAfter: '7', body: '<p>proxy</p>' } }),
      lineAt(20_000, { answer: { status: 200, body: '' } }),
      lineAt(30_000, { answer: { reset: true } }),
      lineAt(40_000, { answer: { status: 200, body: '{"Docüm', cut: true } }),
      lineAt(50_000, { unchanged: true }),
    ]),
    0,
  );
  const url = `/metadata/scheduledevents?api-version=${VERSION}`;
  simulation.advance('10s');
  for (let times = 3; times > 0; times--) {
    const { status, headers, body } = simulation.get(url);
    assert.deepEqual(
      [status, headers['content-type'], headers['retry-after'], new TextDecoder().decode(body)],
      [504, 'text/html', '7', '<p>proxy</p>'],
    );
  }
  assert.equal(simulation.startRequests({ StartRequests: [] }).status, 200);
  simulation.advance('10s');
  assert.deepEqual([simulation.get(url).status, textOf(simulation.get(url))], [200, '']);
  simulation.advance('10s');
  assert.equal(simulation.get(url).reset, true);
  simulation.advance('10s');
  const cut = simulation.get(url);
  assert.deepEqual(
    [textOf({ ...cut, body: cut.body.subarray(0, cut.truncate) }), cut.body.length],
    ['{"Docüm', (cut.truncate ?? 0) + 1],
  );
  simulation.advance('10s');
  assert.deepEqual(simulation.document(), documentOf(1));
});

test('a last unexpected answer stays', () => {
  const simulation = play(scriptOf(HEADER, [lineAt(0, { answer: { status: 503, body: '' } })]), 0);
  simulation.advance('30d');
  assert.equal(simulation.get(`/metadata/scheduledevents?api-version=${VERSION}`).status, 503);
});

test('an unexpected answer whose body was omitted never looks like an empty document', () => {
  const simulation = play(scriptOf(HEADER, [lineAt(0, { answer: { status: 200, contentType: 'text/html' } })]), 0);
  assert.match(textOf(simulation.get(`/metadata/scheduledevents?api-version=${VERSION}`)), /has no body/);
});

test('the first of several machines is played, and the newest of several api-versions that has a document', () => {
  const script = scriptOf(HEADER, [
    { ...lineAt(0, { answer: { status: 400, body: '' } }), vm: 'a', apiVersion: '2024-07-09' },
    { ...lineAt(1000, { document: documentOf(1) }), vm: 'a', apiVersion: '2019-08-01' },
    { ...lineAt(2000, { document: documentOf(2) }), vm: 'a' },
    { ...lineAt(3000, { document: documentOf(3) }), vm: 'b' },
    { ...lineAt(4000, { document: documentOf(4) }), vm: 'a' },
  ]);
  assert.deepEqual(incarnations(script), [
    [2000, 2],
    [4000, 4],
  ]);
});

test('a recording without documents plays its unexpected answers', () => {
  const script = scriptOf(HEADER, [
    { ...lineAt(1000, { answer: { status: 400, body: '' } }), apiVersion: '2024-07-09' },
  ]);
  assert.deepEqual(incarnations(script), [[1000, 'fault']]);
});

test('missing fields of an older api-version are not invented, and its underscores appear once', () => {
  const {
    Description: _,
    EventSource: __,
    DurationInSeconds: ___,
    ...oldest
  } = eventOf({ NotBefore: '', Resources: ['_a_0'] });
  const simulation = play(
    scriptOf({ ...HEADER, apiVersion: '2017-03-01' }, [{ at: HEADER.startedAt, document: documentOf(5, oldest) }]),
    0,
  );
  assert.deepEqual(simulation.document(), documentOf(5, { ...oldest, Resources: ['a_0'] }));
  assert.deepEqual(simulation.document('2017-03-01'), documentOf(5, oldest));
});

test('a capture without times, with a line for each poll, is played with unchanged dates', () => {
  const event = eventOf();
  const lines = [documentOf(1), documentOf(1), documentOf(2, event), documentOf(2, event), documentOf(3)];
  const script = scriptOf(null, lines);
  assert.deepEqual(incarnations(script), [
    [0, 1],
    [2000, 2],
    [4000, 3],
  ]);
  const simulation = play(script, 0);
  simulation.advance('2s');
  assert.deepEqual(simulation.document(), documentOf(2, event));
});

test('a script has the name of its file and a purpose of one line', async (t) => {
  const path = join(folderOf(t), 'night.ndjson');
  const line = JSON.stringify(lineAt(0, { document: documentOf(1) }));
  writeFileSync(path, `${JSON.stringify({ ...HEADER, anonymised: true })}\n${line}\n{"at":`);
  const { name, purpose, recordedAtMs } = await scriptOfRecording(path);
  assert.deepEqual(
    [name, purpose, recordedAtMs],
    [
      'night.ndjson',
      'the answers of a metadata service from 2026-11-21T14:00:00Z on, anonymised, without its last line, which is incomplete',
      START_MS,
    ],
  );
  assert.equal(scriptOf(null, [documentOf(1)]).purpose, 'a capture without times');
});

const event = fc.record({
  EventId: fc.uuid(),
  EventType: fc.constantFrom('Freeze', 'Reboot', 'Terminate', 'Pause'),
  EventStatus: fc.constantFrom('Scheduled' as const, 'Started' as const),
  Resources: fc.array(fc.constantFrom('web_0', 'web_1')),
  NotBefore: fc.oneof(
    fc.constant(''),
    fc.integer({ min: -3600, max: 864_000 }).map((seconds) => new Date(START_MS + seconds * 1000).toUTCString()),
  ),
  Description: fc.string(),
  DurationInSeconds: fc.constantFrom(-1, 0, 9),
});
const seen = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.nat(50), fc.uniqueArray(event, { selector: ({ EventId }) => EventId, maxLength: 3 }))
      .map(([incarnation, events]) => ({
        document: documentOf(incarnation, ...events.map((fields) => eventOf(fields))),
      })),
  },
  { weight: 1, arbitrary: fc.constantFrom({ status: 503 }, { status: 200 }, { status: 429 }) },
  { weight: 1, arbitrary: fc.constant('post' as const) },
);

test('playing any recording gives the recorded answers again: documents with moved dates, and unexpected answers', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 4000 }), seen), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 0, max: 10_000_000 }),
      (answers, laterS) => {
        fc.pre(answers.some(([, what]) => what !== 'post'));
        const fixture = new RecorderFixture();
        let atMs = START_MS;
        const expected = answers.map(([waitS, what]) => {
          atMs += waitS * 1000;
          if (what === 'post') fixture.recorder.record(post('{"StartRequests":[]}'), answer(200), atMs);
          else if ('status' in what) fixture.recorder.record(get(), answer(what.status), atMs);
          else fixture.recorder.record(get(), answer(200, what.document), atMs);
          return { afterMs: atMs - START_MS, what };
        });
        const simulation = play(scriptOf(HEADER, fixture.lines), laterS * 1000);
        let nowMs = 0;
        for (const { afterMs, what } of expected) {
          simulation.advance(`${afterMs - nowMs}ms`);
          nowMs = afterMs;
          if (what === 'post') continue;
          const again = simulation.get(`/metadata/scheduledevents?api-version=${VERSION}`);
          if ('status' in what) assert.deepEqual([again.status, textOf(again)], [what.status, '']);
          else assert.deepEqual(sorted(JSON.parse(textOf(again))), sorted(moved(what.document, laterS * 1000)));
        }
      },
    ),
  );
});

function moved({ DocumentIncarnation, Events }: RecordedDocument, byMs: number): RecordedDocument {
  const later = (event: RecordedEvent) =>
    event.NotBefore === ''
      ? event
      : { ...event, NotBefore: new Date(Date.parse(event.NotBefore) + byMs).toUTCString() };
  return documentOf(DocumentIncarnation, ...Events.map(later));
}

/** The order of the list does not matter. */
function sorted({ DocumentIncarnation, Events }: RecordedDocument): RecordedDocument {
  return documentOf(DocumentIncarnation, ...[...Events].sort((a, b) => (a.EventId < b.EventId ? -1 : 1)));
}
