import assert from 'node:assert/strict';
import test from 'node:test';
import { parseStartRequests } from '../../src/approvals/start-requests.ts';

test('ids count once without case, in the order in which they were first named, and every Seen is kept', () => {
  const parsed = parseStartRequests({
    DocumentIncarnation: 3,
    StartRequests: [
      { EventId: 'B', Seen: 'b:scheduled' },
      { EventId: 'a', Extra: 1 },
      { EventId: 'b', Seen: 'b:updated:0' },
    ],
  });
  assert.deepEqual(parsed, [
    { eventId: 'B', key: 'b', seen: ['b:scheduled', 'b:updated:0'] },
    { eventId: 'a', key: 'a', seen: [] },
  ]);
});

const BAD: readonly [body: unknown, told: RegExp][] = [
  [null, /must be an object/],
  [[], /must be an object/],
  ['text', /must be an object/],
  [{}, /must be an array/],
  [{ startrequests: [{ EventId: 'a' }] }, /must be an array/],
  [{ StartRequests: { EventId: 'a' } }, /must be an array/],
  [{ StartRequests: [] }, /is empty/],
  [{ StartRequests: [{ EventId: 'a' }, 'b'] }, /StartRequests\[1\] must be an object/],
  [{ StartRequests: [null] }, /StartRequests\[0\] must be an object/],
  [{ StartRequests: [{}] }, /StartRequests\[0\]\.EventId/],
  [{ StartRequests: [{ EventId: '' }] }, /StartRequests\[0\]\.EventId/],
  [{ StartRequests: [{ EventId: 7 }] }, /StartRequests\[0\]\.EventId/],
  [{ StartRequests: [{ EventId: 'a', Seen: 7 }] }, /StartRequests\[0\]\.Seen/],
];

for (const [body, told] of BAD) {
  test(`${JSON.stringify(body)} is refused with the place of the fault`, () => {
    const fault = parseStartRequests(body);
    assert.ok(typeof fault === 'string');
    assert.match(fault, told);
  });
}

test('a key named __proto__ names nothing', () => {
  const parsed = parseStartRequests(JSON.parse('{"StartRequests":[{"__proto__":{"EventId":"a"}}]}'));
  assert.match(String(parsed), /EventId must be a text/);
});
