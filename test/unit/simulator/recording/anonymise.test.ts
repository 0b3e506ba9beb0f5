// Lines of a recording → the same lines with other names and ids, consistent and irreversible.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { Anonymiser } from '../../../../src/simulator/recording/anonymise.ts';
import type { RecordingLine } from '../../../../src/simulator/recording/recording.ts';
import { documentOf, eventOf, type RecordedEvent } from '../../../virtual/recording-fixture.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

const AT = '2026-11-21T14:00:00.000Z';
const UPPER = 'C7061BAC-AFDC-4513-B24B-AA5F13A16123';
const anonymiser = (seed = 1) => new Anonymiser(new VirtualTime({ seed }).random);

function events(line: RecordingLine): readonly RecordedEvent[] {
  return line.document?.Events ?? [];
}

const one = (fields: Partial<RecordedEvent>, by = anonymiser()) =>
  events(by.line({ at: AT, document: documentOf(1, eventOf(fields)) }))[0] as RecordedEvent;

test('an EventId becomes a new GUID, the same in documents and POSTs, in the letter case of each', () => {
  const by = anonymiser();
  const upper = one({ EventId: UPPER }, by).EventId;
  const lower = one({ EventId: UPPER.toLowerCase() }, by).EventId;
  const post = by.line({ at: AT, post: { StartRequests: [{ EventId: UPPER }], status: 200 } }).post;
  assert.match(upper, /^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/);
  assert.notEqual(upper, UPPER);
  assert.deepEqual([lower, post?.StartRequests], [upper.toLowerCase(), [{ EventId: upper }]]);
});

test('the keys of an event keep their recorded order', () => {
  const { EventSource: _, EventId, ...rest } = eventOf();
  const odd = { EventSource: 'Platform', ...rest, EventId };
  const line = anonymiser().line({ at: AT, document: documentOf(1, odd) });
  assert.deepEqual(Object.keys(events(line)[0] ?? {}), Object.keys(odd));
});

test('machines become vm_0, vm_1 … in order of appearance, ignoring letter case', () => {
  const by = anonymiser();
  const first = by.line({ at: AT, vm: 'web_1', document: documentOf(1, eventOf({ Resources: ['web_0', 'WEB_1'] })) });
  assert.deepEqual([first.vm, events(first)[0]?.Resources], ['vm_0', ['vm_1', 'vm_0']]);
  assert.deepEqual(one({ Resources: ['vm_1', 'web_0'] }, by).Resources, ['vm_2', 'vm_1']);
});

test('the underscore of api-version 2017-03-01 stays, and the name under it is the same', () => {
  assert.deepEqual(one({ Resources: ['_web_0', 'web_0'] }).Resources, ['_vm_0', 'vm_0']);
});

test('in a Description every known name and every GUID is replaced, but no part of another word', () => {
  const Description = `Host of web_1, _web_1 and WEB_10.internal (a: web-1) for ${UPPER.toLowerCase()}, not myweb_1.`;
  const by = anonymiser();
  const event = one({ EventId: UPPER, Resources: ['web_1', 'WEB_10'], Description }, by);
  assert.equal(
    event.Description,
    `Host of vm_0, _vm_0 and vm_1.internal (a: web-1) for ${event.EventId.toLowerCase()}, not myweb_1.`,
  );
  const other = one({ Description: 'In subscription 11111111-2222-3333-4444-555555555555.' }, by);
  assert.match(other.Description ?? '', /^In subscription [0-9A-F-]{36}\.$/i);
  assert.doesNotMatch(other.Description ?? '', /1111/);
});

test('a name with special characters of regular expressions is replaced literally', () => {
  const event = one({ Resources: ['a.b(c)[d]|e'], Description: 'x a.b(c)[d]|e y, aXb' });
  assert.equal(event.Description, 'x vm_0 y, aXb');
});

test('a Description reveals no machine, even one that only a later event of the document lists', () => {
  const line: RecordingLine = {
    at: AT,
    document: documentOf(
      1,
      eventOf({ Description: 'Moves away from db_7.' }),
      eventOf({ EventId: 'x', Resources: ['db_7'] }),
    ),
  };
  assert.doesNotMatch(JSON.stringify(anonymiser().line(line)), /db_7/);
});

test('unknown fields, unexpected bodies and all of a POST but its EventIds are omitted', () => {
  const by = anonymiser();
  const document = { Secret: 1, DocumentIncarnation: 4, Events: [{ ...eventOf(), Secret: 'hunter2' }] };
  assert.deepEqual(Object.keys(events(by.line({ at: AT, document }))[0] ?? {}).sort(), Object.keys(eventOf()).sort());
  assert.deepEqual(by.line({ at: AT, answer: { status: 504, contentType: 'text/html', body: 'hunter2' } }).answer, {
    status: 504,
    contentType: 'text/html',
  });
  const post = { StartRequests: [{ EventId: UPPER, Token: 'hunter2' }, 'hunter2', { EventId: 5 }], status: 400 };
  const requests = by.line({ at: AT, post }).post?.StartRequests ?? [];
  assert.deepEqual(
    requests.map((request) => Object.keys(request as object)),
    [['EventId'], [], []],
  );
  assert.deepEqual(by.line({ at: AT, post: { StartRequests: null, status: 400 } }).post, {
    StartRequests: null,
    status: 400,
  });
});

test('times, types, incarnations, missing fields of an older api-version and an empty body are kept', () => {
  const { Description: _, EventSource: __, DurationInSeconds: ___, ...oldest } = eventOf();
  const line: RecordingLine = { at: AT, apiVersion: '2017-08-01', document: documentOf(7, oldest) };
  const after = anonymiser().line(line);
  assert.deepEqual(after, {
    ...line,
    document: documentOf(7, { ...oldest, EventId: events(after)[0]?.EventId ?? '', Resources: ['vm_0', 'vm_1'] }),
  });
  const empty: RecordingLine = { at: AT, answer: { status: 200, body: '' } };
  assert.deepEqual(anonymiser().line(empty), empty);
  assert.deepEqual(anonymiser().line({ at: AT, unchanged: true }), { at: AT, unchanged: true });
});

test('the new ids are random, not derived from the old ones', () => {
  assert.notEqual(one({}, anonymiser(1)).EventId, one({}, anonymiser(2)).EventId);
});

const name = fc.stringMatching(/^[A-Za-z]{1,2}[0-9._()-]{0,3}_[0-9]{5}$/);

test('in any recording no name and no id is left, and equal values stay equal', () => {
  const event = fc.record({
    EventId: fc.uuid(),
    Resources: fc.array(name, { maxLength: 3 }),
    words: fc.array(fc.oneof(name, fc.constantFrom('host', 'of', '(', '…')), { maxLength: 6 }),
  });
  fc.assert(
    fc.property(
      fc.array(fc.uniqueArray(event, { selector: ({ EventId }) => EventId, maxLength: 4 }), { maxLength: 5 }),
      fc.nat(),
      (all, seed) => {
        const by = anonymiser(seed);
        const listed = [...new Set(all.flat().flatMap(({ Resources }) => Resources))];
        const after = all.map((list, index) => {
          const known = new Set(
            all.slice(0, index + 1).flatMap((earlier) => earlier.flatMap(({ Resources }) => Resources)),
          );
          const words = (told: readonly string[]) =>
            told.filter((word) => known.has(word) || !listed.includes(word)).join(' ');
          return by.line({
            at: AT,
            document: documentOf(
              index,
              ...list.map(({ words: told, ...rest }) => eventOf({ ...rest, Description: words(told) })),
            ),
          });
        });
        const text = JSON.stringify(after).toLowerCase();
        for (const { EventId } of all.flat()) assert.ok(!text.includes(EventId.toLowerCase()), EventId);
        for (const known of listed) {
          const inside = new RegExp(
            `(?<![\\p{L}\\p{N}])${known.toLowerCase().replaceAll(/[.()]/g, '\\$&')}(?![\\p{L}\\p{N}])`,
            'u',
          );
          assert.doesNotMatch(text, inside);
        }
        const pairs = all.flatMap((list, index) =>
          list.flatMap(({ Resources }, place) =>
            Resources.map(
              (before, at) =>
                [before.toLowerCase(), events(after[index] as RecordingLine)[place]?.Resources[at]] as const,
            ),
          ),
        );
        for (const [before, now] of pairs)
          for (const [other, then] of pairs) assert.equal(before === other, now === then);
      },
    ),
  );
});
