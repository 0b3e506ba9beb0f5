// Bodies of answers → documents or not; one bad entry spoils nothing else.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { BridgeError } from '../../../src/errors.ts';
import { parseDocument, readEntry } from '../../../src/metadata/document.ts';
import { API_VERSIONS } from '../../../src/model/api-versions.ts';
import type { DocumentEvent, EventField, ScheduledEventsDocument } from '../../../src/model/events.ts';
import { EXAMPLE_EVENT, fakeDocument } from '../../far-sides/metadata-service.ts';

const V = '2020-07-01';

function parse(body: string | Uint8Array, apiVersion = V): ScheduledEventsDocument {
  return parseDocument(Buffer.from(body as string), apiVersion);
}

/** The only event of a document whose example event is changed by `fields`. */
function parseEvent(fields: Record<string, unknown>, apiVersion = V): DocumentEvent {
  const { events } = parse(fakeDocument(1, fields), apiVersion);
  assert.equal(events.length, 1);
  return events[0] ?? assert.fail();
}

describe('a body', () => {
  test('that is no document is refused with what is wrong', () => {
    for (const [body, why] of [
      ['[]', 'its JSON is not an object'],
      ['{"DocumentIncarnation":-1,"Events":[]}', 'its DocumentIncarnation is not an integer from 0 to 2^53-1'],
      ['{"DocumentIncarnation":1,"Events":{}}', 'its Events is not a list'],
      [
        `{"DocumentIncarnation":1,"Events":[${'0,'.repeat(100_000)}0]}`,
        'its JSON has more than 100,000 values or 100 levels',
      ],
      [
        `{"DocumentIncarnation":1,"Events":${'['.repeat(101)}${']'.repeat(101)}}`,
        'its JSON has more than 100,000 values or 100 levels',
      ],
      [Uint8Array.of(0x7b, 0xff, 0x7d), 'it is not valid UTF-8'],
      ['{"DocumentIncarnation":', 'it is broken JSON'],
      [' \n<!DOCTYPE html>', 'it is HTML or XML'],
    ] as const)
      assert.throws(() => parse(body), {
        code: 'BRIDGE_METADATA_INVALID',
        message: `the metadata service answered 200 but sent no valid document: ${why}; if this continues, check metadata.endpoint, and that no proxy answers in its place`,
      });
  });

  test('that is not UTF-8 has the error of the decoder as its cause', () => {
    assert.throws(
      () => parse(Uint8Array.of(0xff)),
      ({ cause }: BridgeError) => cause instanceof TypeError,
    );
  });

  test('may have the incarnation -0 in its JSON, which is 0', () => {
    assert.ok(Object.is(parse(fakeDocument(1).replace(':1,', ':-0,')).incarnation, 0));
  });

  test('of the documentation’s example is read whole (protocol 5.12)', () => {
    assert.deepEqual(parse(fakeDocument(2, {})), {
      apiVersion: V,
      incarnation: 2,
      events: [
        {
          eventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
          eventStatus: 'Scheduled',
          eventType: 'Freeze',
          resourceType: 'VirtualMachine',
          resources: ['WestNO_0', 'WestNO_1'],
          notBefore: '2022-04-11T22:26:58Z',
          description: EXAMPLE_EVENT.Description,
          eventSource: 'Platform',
          durationInSeconds: 5,
          unreadable: [],
        },
      ],
      statusless: [],
      complete: true,
    });
  });

  test('of no byte is a document without events and incarnation', () => {
    assert.deepEqual(parse(''), { apiVersion: V, incarnation: null, events: [], statusless: [], complete: true });
  });

  test('may begin with a byte order mark', () => assert.equal(parse(`\ufeff${fakeDocument(7)}`).incarnation, 7));

  for (const [value, incarnation] of [
    [0, 0],
    [-0, 0],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ['0', 0],
    ['12', 12],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ] as const) {
    test(`may have the incarnation ${JSON.stringify(value)}`, () =>
      assert.ok(Object.is(parse(fakeDocument(value)).incarnation, incarnation)));
  }

  for (const value of [
    -1,
    1.5,
    2 ** 53,
    '9007199254740992',
    '9'.repeat(400),
    '-1',
    '1.0',
    '0x10',
    '',
    ' 1',
    null,
    true,
    [1],
    {},
  ]) {
    test(`is not a document with the incarnation ${JSON.stringify(value).slice(0, 30)}`, () =>
      assert.throws(() => parse(fakeDocument(value)), isInvalid));
  }

  for (const [what, body] of [
    ['spaces and line ends, which are not empty', ' \r\n\t'],
    ['a byte order mark alone', '\ufeff'],
    ['truncated JSON', fakeDocument(1, {}).slice(0, 40)],
    ['HTML', '<html><body>Gateway</body></html>'],
    ['a text', '"ok"'],
    ['null', 'null'],
    ['a list', '[]'],
    ['an object without anything', '{}'],
    ['no incarnation', '{"Events":[]}'],
    ['no Events', '{"DocumentIncarnation":1}'],
    ['Events that are null', '{"DocumentIncarnation":1,"Events":null}'],
    ['Events that are an object', '{"DocumentIncarnation":1,"Events":{}}'],
    ['two documents', `${fakeDocument(1)}${fakeDocument(2)}`],
    ['a hundred thousand brackets', '['.repeat(100_000)],
    ['UTF-16', Buffer.from(fakeDocument(1), 'utf16le')],
    [
      'a byte that is no UTF-8',
      Buffer.concat([
        Buffer.from('{"DocumentIncarnation":1,"Events":[],"x":"'),
        Buffer.from([0xff]),
        Buffer.from('"}'),
      ]),
    ],
    [
      'a surrogate as UTF-8',
      Buffer.concat([
        Buffer.from('{"DocumentIncarnation":1,"Events":[],"x":"'),
        Buffer.from([0xed, 0xa0, 0x80]),
        Buffer.from('"}'),
      ]),
    ],
  ] as const) {
    test(`of ${what} is not a document`, () => assert.throws(() => parse(body), isInvalid));
  }

  test('is never quoted by the error', () => {
    assert.throws(
      () => parse('{"DocumentIncarnation": s3cret'),
      (error) =>
        isInvalid(error) &&
        !JSON.stringify([String(error), error instanceof Error && String(error.cause)]).includes('s3cret'),
    );
  });

  test('may have unknown members', () => {
    const body = `{"__proto__":{"Events":5},"DocumentIncarnation":1,"Events":[],"constructor":"x","More":{"__proto__":[]}}`;
    assert.equal(parse(body).incarnation, 1);
    assert.equal(({} as Record<string, unknown>)['Events'], undefined);
  });

  test('always gives a document or BRIDGE_METADATA_INVALID', () => {
    const anything = fc.oneof(
      fc.json(),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      fc.array(fc.jsonValue()).map((events) => JSON.stringify({ DocumentIncarnation: 1, Events: events })),
      fc
        .dictionary(fc.constantFrom(...Object.keys(EXAMPLE_EVENT), '__proto__'), fc.jsonValue())
        .map((event) => fakeDocument(1, event)),
    );
    fc.assert(
      fc.property(anything, fc.constantFrom(...API_VERSIONS), (body, apiVersion) => {
        try {
          parse(body, apiVersion);
        } catch (error) {
          assert.ok(isInvalid(error));
        }
      }),
    );
  });
});

describe('an entry', () => {
  for (const entry of [
    null,
    5,
    'x',
    [],
    {},
    { EventId: '' },
    { EventId: 7, EventStatus: 'Scheduled' },
    { EventId: null, EventStatus: 'Started' },
  ]) {
    test(`without a usable EventId leaves the document incomplete and the other events whole: ${JSON.stringify(entry)}`, () => {
      const document = parse(JSON.stringify({ DocumentIncarnation: 1, Events: [entry, EXAMPLE_EVENT] }));
      assert.equal(document.complete, false);
      assert.deepEqual(
        document.events.map((event) => event.eventId),
        [EXAMPLE_EVENT.EventId],
      );
    });
  }

  for (const status of ['Completed', '', ' Scheduled', null, 5, ['Scheduled'], undefined]) {
    test(`with the status ${JSON.stringify(status)} is statusless`, () => {
      const document = parse(fakeDocument(1, { EventStatus: status }, { EventId: 'b' }));
      assert.deepEqual(document.statusless, ['c7061bac-afdc-4513-b24b-aa5f13a16123']);
      assert.deepEqual(
        document.events.map((event) => event.eventId),
        ['b'],
      );
      assert.equal(document.complete, true);
    });
  }

  test('may write its status in any letter case', () => {
    assert.equal(parseEvent({ EventStatus: 'STARTED' }).eventStatus, 'Started');
    assert.equal(parseEvent({ EventStatus: 'scheduled' }).eventStatus, 'Scheduled');
  });

  test('is an event, statusless or unusable, also for a command that reads it alone', () => {
    const kinds = [EXAMPLE_EVENT, { EventId: 'A' }, {}].map((entry) => readEntry(entry, V));
    assert.deepEqual(
      kinds.map(({ kind }) => kind),
      ['event', 'statusless', 'unusable'],
    );
    assert.deepEqual(kinds[1], { kind: 'statusless', key: 'a' });
  });

  test('is not statusless if another entry with its EventId has a status', () => {
    const document = parse(fakeDocument(1, { EventStatus: 'Odd' }, { EventId: EXAMPLE_EVENT.EventId.toLowerCase() }));
    assert.deepEqual(document.statusless, []);
    assert.equal(document.events.length, 1);
  });

  test('keeps an EventId that is not a GUID, and one with the name of a built-in', () => {
    const ids = ['__proto__', 'constructor', 'ünïcode / id', 'x'.repeat(500)];
    assert.deepEqual(
      parse(fakeDocument(1, ...ids.map((EventId) => ({ EventId })))).events.map((event) => event.eventId),
      ids,
    );
  });

  test('with unknown types and fields is data', () => {
    const event = parseEvent({
      EventType: 'SpotRebalanceRecommendation',
      EventSource: 'Martian',
      ResourceType: 'Moon',
      Extra: { deep: [1] },
    });
    assert.deepEqual(
      [event.eventType, event.eventSource, event.resourceType, event.unreadable],
      ['SpotRebalanceRecommendation', 'Martian', 'Moon', []],
    );
  });
});

describe('a field', () => {
  const FIELDS: readonly (readonly [string, EventField, unknown])[] = [
    ['EventType', 'eventType', ''],
    ['ResourceType', 'resourceType', ''],
    ['Resources', 'resources', []],
    ['NotBefore', 'notBefore', null],
    ['Description', 'description', ''],
    ['EventSource', 'eventSource', ''],
    ['DurationInSeconds', 'durationInSeconds', -1],
  ];

  for (const [name, field, absent] of FIELDS) {
    test(`${name} that is absent reads as ${JSON.stringify(absent)}`, () => {
      const event = parseEvent({ [name]: undefined });
      assert.deepEqual(event[field], absent);
      assert.deepEqual(event.unreadable, []);
    });

    for (const wrong of [
      true,
      {},
      [5],
      [['x']],
      ['WestNO_0', null],
      'text' as unknown,
      5 as unknown,
      null as unknown,
    ]) {
      const fits =
        (typeof wrong === 'string' && typeof absent === 'string') ||
        (wrong === 5 && absent === -1) ||
        (wrong === null && name === 'NotBefore');
      if (fits) continue;
      test(`${name} of ${JSON.stringify(wrong)} is unreadable and does not affect other fields`, () => {
        const event = parseEvent({ [name]: wrong });
        assert.deepEqual(event.unreadable, [field]);
        assert.deepEqual(event[field], absent);
        assert.deepEqual({ ...event, [field]: 0, unreadable: 0 }, { ...parseEvent({}), [field]: 0, unreadable: 0 });
      });
    }
  }

  test('NotBefore reads empty and null as absent, dates in any format, and is otherwise unreadable', () => {
    for (const empty of ['', '  ', null])
      assert.deepEqual(
        [parseEvent({ NotBefore: empty }).notBefore, parseEvent({ NotBefore: empty }).unreadable],
        [null, []],
      );
    assert.equal(parseEvent({ NotBefore: '2022-04-12T00:26:58.9+02:00' }).notBefore, '2022-04-11T22:26:58Z');
    for (const odd of ['soon', '2022-02-31T00:00:00Z', '5'])
      assert.deepEqual(parseEvent({ NotBefore: odd }).unreadable, ['notBefore']);
  });

  test('DurationInSeconds can be a number or a numeric string', () => {
    for (const [value, seconds] of [
      [0, 0],
      [-0, 0],
      [-1, -1],
      [9.5, 9.5],
      ['30', 30],
      [' 6 ', 6],
      ['9.25', 9.25],
      ['-1', -1],
      ['-0', 0],
    ] as const) {
      assert.ok(Object.is(parseEvent({ DurationInSeconds: value }).durationInSeconds, seconds), String(value));
    }
    for (const odd of ['', 'long', '1e3', '0x10', 'NaN', '9'.repeat(400)])
      assert.deepEqual(parseEvent({ DurationInSeconds: odd }).unreadable, ['durationInSeconds'], odd);
    const infinite = fakeDocument(1, { DurationInSeconds: 5 }).replace(
      '"DurationInSeconds":5',
      '"DurationInSeconds":1e999',
    );
    assert.deepEqual(parse(infinite).events[0]?.unreadable, ['durationInSeconds']);
  });

  test('Resources are distinct in their order, letter case counting', () => {
    assert.deepEqual(parseEvent({ Resources: ['b', 'a', 'b', 'B'] }).resources, ['b', 'a', 'B']);
  });

  test('Resources lose one underscore in 2017-03-01 and in no other version', () => {
    for (const version of API_VERSIONS) {
      const expected = version === '2017-03-01' ? ['web_0', '_web_1'] : ['_web_0', 'web_0', '__web_1'];
      assert.deepEqual(parseEvent({ Resources: ['_web_0', 'web_0', '__web_1'] }, version).resources, expected);
    }
  });

  test('that its api-version lacks is read if the service sends it', () =>
    assert.equal(parseEvent({}, '2017-03-01').durationInSeconds, 5));

  test('with a lone surrogate has U+FFFD instead', () => {
    const event = parseEvent({
      EventId: 'a\ud800',
      Description: '\udc00b',
      Resources: ['\ud800', '\udfff'],
      EventType: 'x\ud83d',
    });
    assert.deepEqual(
      [event.eventId, event.description, event.resources, event.eventType],
      ['a\ufffd', '\ufffdb', ['\ufffd'], 'x\ufffd'],
    );
  });
});

describe('entries with one EventId', () => {
  const other = { EventId: EXAMPLE_EVENT.EventId.toLowerCase() };

  test('count once, at the position of the first', () => {
    const { events } = parse(fakeDocument(1, {}, { EventId: 'b' }, { ...other, EventStatus: 'Started' }));
    assert.deepEqual(
      events.map((event) => [event.eventId, event.eventStatus]),
      [
        [other.EventId, 'Started'],
        ['b', 'Scheduled'],
      ],
    );
  });

  test('Started wins in either order, over a larger content too', () => {
    const entries = [{ EventStatus: 'Started', Description: 'a' }, { Description: 'z' }];
    for (const order of [entries, entries.toReversed()])
      assert.equal(parse(fakeDocument(1, ...order)).events[0]?.description, 'a');
  });

  test('then the larger canonical JSON wins in either order', () => {
    const entries = [
      { Description: 'a', DurationInSeconds: 9 },
      { Description: 'b', DurationInSeconds: 1 },
    ];
    for (const order of [entries, entries.toReversed()])
      assert.equal(parse(fakeDocument(1, ...order)).events[0]?.description, 'b');
  });

  test('the choice does not depend on their order', () => {
    const variant = fc.record({
      EventId: fc.constantFrom('a', 'A'),
      EventStatus: fc.constantFrom('Scheduled', 'Started', 'Odd'),
      Description: fc.constantFrom('x', 'y', null, ''),
      Resources: fc.shuffledSubarray(['p', 'q']),
      DurationInSeconds: fc.constantFrom(1, '1', null, -1),
    });
    fc.assert(
      fc.property(
        fc
          .array(variant, { minLength: 1, maxLength: 4 })
          .chain((entries) =>
            fc.tuple(fc.constant(entries), fc.shuffledSubarray(entries, { minLength: entries.length })),
          ),
        ([entries, shuffled]) =>
          assert.deepEqual(parse(fakeDocument(1, ...shuffled)), parse(fakeDocument(1, ...entries))),
      ),
    );
  });
});

function isInvalid(error: unknown): boolean {
  return error instanceof BridgeError && error.code === 'BRIDGE_METADATA_INVALID';
}

test('an entry with the id of a drill is ignored, and the document counts as complete', () => {
  const id = 'DRILL-b7cf3c25-0000-4000-8000-000000000000';
  for (const EventStatus of ['Scheduled', 'Started', 'Nonsense']) {
    const { events, statusless, complete } = parse(fakeDocument(1, { EventId: id, EventStatus }));
    assert.deepEqual([events, statusless, complete], [[], [], true]);
  }
  assert.equal(parse(fakeDocument(1, { EventId: 'drill-now' })).events.length, 1, 'another name is another event');
});
