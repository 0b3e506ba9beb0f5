// Each row of the status table (behaviour 5.6) → what the lane sends again, when, and what is told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../../far-sides/webhook-receiver.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../virtual/lane-fixture.ts';
import { webhookLane } from './webhook-lane.ts';

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test('each 2xx is a delivery (W-12, S-9)', async (t) => {
  const { receiver, store, queue, pass, lane } = await webhookLane(t);
  for (const status of [200, 201, 202, 203, 204, 205, 206, 226, 299]) {
    receiver.next({ status });
    queue({ seq: status });
    await pass(0);
    assert.deepEqual([store.accepted.at(-1)?.seq, store.open.length], [store.accepted.length, 0], `${status}`);
  }
  assert.equal(receiver.requests.length, 9);
  assert.equal(lane.status().state, 'delivering');
});

const RETRIED: readonly (readonly [name: string, answer: Answer])[] = [
  ...[408, 425, 429, ...range(500, 511), 599].map((status) => [`${status}`, { status }] as const),
  ['a reset', 'reset'],
  ['an answer that is no HTTP', (_, socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')],
  ['a connection closed without an answer', (_, socket) => socket.end()],
];

for (const [name, answer] of RETRIED) {
  test(`${name} is retried after the back-off, with the same id and bytes, and delays no other event (W-13)`, async (t) => {
    const { receiver, store, queue, pass, lane, told } = await webhookLane(t);
    receiver.next(answer, answer);
    queue({ seq: 1, partitionKey: 'a' });
    await pass(0);
    assert.equal(lane.status().state, 'backing off');
    queue({ seq: 2, partitionKey: 'a' });
    await pass(249);
    assert.equal(receiver.requests.length, 1);
    await pass(1);
    assert.equal(receiver.requests.length, 2);
    queue({ seq: 3, partitionKey: 'b' });
    await pass(0);
    assert.equal(store.accepted.length, 1, 'the other event');
    await pass(499);
    assert.equal(receiver.requests.length, 3);
    await pass(1);
    const [first, second, other, third, later] = receiver.requests;
    assert.deepEqual([second?.headers['webhook-id'], second?.body], [first?.headers['webhook-id'], first?.body]);
    assert.deepEqual([third?.headers['webhook-id'], third?.body], [first?.headers['webhook-id'], first?.body]);
    assert.match(String(other?.headers['webhook-id']), /^b:/);
    assert.match(String(later?.headers['webhook-id']), /^a:.*2$/, 'what came after it in the same event');
    assert.deepEqual([store.accepted.length, store.open.length, lane.status().state], [3, 0, 'delivering']);
    assert.equal(told().length, 1);
  });
}

test('a delivery without an answer within timeout is retried (W-13, S-9)', async (t) => {
  const { receiver, store, queue, pass, time, lane } = await webhookLane(t, { options: { timeout: '3s' } });
  receiver.next('hang');
  queue();
  await receiver.waitFor(1);
  await time.advance(3 * SECOND - 1);
  assert.equal(lane.status().inFlight, 1);
  await pass(1);
  assert.match(lane.status().reason ?? '', /did not answer within 3s/);
  await pass(250);
  assert.deepEqual([receiver.requests.length, store.accepted.length], [2, 1]);
});

test('an unreachable receiver gets one attempt at a time, and everything once it is reachable', async (t) => {
  const { receiver, store, queue, pass, lane, told } = await webhookLane(t);
  await receiver.stop();
  for (const partitionKey of ['a', 'b', 'c', 'd']) queue({ partitionKey });
  await pass(0);
  assert.equal(lane.status().state, 'probing');
  await pass(5 * MINUTE);
  await receiver.start();
  assert.equal(store.accepted.length, 0);
  await pass(10 * SECOND);
  assert.deepEqual([store.accepted.length, receiver.requests.length, lane.status().state], [4, 4, 'delivering']);
  assert.deepEqual(
    told()
      .map(({ msg }) => msg)
      .filter((msg) => msg.startsWith('the sink')),
    ['the sink fails as a whole: one delivery at a time until one is accepted', 'the sink takes deliveries again'],
  );
});

for (const status of [300, 301, 302, 303, 304, 307, 308, 401, 403, 404]) {
  test(`${status} is retried slowly at the same URL, and its start and end are logged once as misconfigured (W-11, S-9)`, async (t) => {
    const { receiver, store, queue, pass, lane, told } = await webhookLane(t);
    receiver.default = {
      status,
      headers: { location: `${receiver.url}/elsewhere`, 'www-authenticate': 'Basic realm="x"' },
    };
    for (const partitionKey of ['a', 'b']) queue({ partitionKey });
    await pass(0);
    const began = receiver.requests.length;
    assert.deepEqual(
      [lane.status().state, lane.status().reason?.includes(`answered ${status}`)],
      ['misconfigured', true],
    );
    await pass(10 * SECOND - 1);
    assert.equal(receiver.requests.length, began);
    await pass(1);
    assert.equal(receiver.requests.length, began + 1, 'one at a time');
    for (let attempt = 0; attempt < 5; attempt++) await pass(10 * SECOND);
    assert.equal(receiver.requests.length, began + 6);
    assert.deepEqual(
      new Set(receiver.requests.map(({ path, headers }) => `${path} ${headers.authorization}`)),
      new Set(['/hook undefined']),
    );
    assert.deepEqual([store.open.length, store.dead.length], [2, 0]);
    receiver.default = { status: 204 };
    await pass(10 * SECOND);
    assert.deepEqual([store.accepted.length, lane.status().state, lane.status().reason], [2, 'delivering', null]);
    assert.deepEqual(
      told().map(({ msg, status: said }) => [msg, said]),
      [
        ['the sink looks misconfigured: mend what the reason says; tried slowly until then', status],
        ['the sink takes deliveries: it is no longer misconfigured', undefined],
      ],
    );
  });
}

test('a misconfigured sink keeps its deliveries until maxAge, and then reports the answer for each', async (t) => {
  const { receiver, store, queue, pass } = await webhookLane(t, { maxAgeMs: HOUR });
  receiver.default = { status: 404 };
  queue();
  await pass(0);
  for (let waited = 0; waited < HOUR; waited += 10 * SECOND) {
    assert.equal(store.dead.length, 0);
    await pass(10 * SECOND);
  }
  assert.deepEqual(
    store.dead.map(({ reason, status }) => [reason, status]),
    [['expired', 404]],
  );
});

test('410 retires the sink: nothing is sent, rows stay queued, rows older than maxAge expire without an attempt, and a lifted retirement sends the rest (W-13, S-9)', async (t) => {
  const { receiver, store, queue, pass, time, lane, told } = await webhookLane(t);
  receiver.default = { status: 410, headers: { 'retry-after': '1' } };
  queue({ partitionKey: 'a' });
  await pass(0);
  assert.deepEqual([lane.status().state, store.retirement('under-test')?.reason], ['retired', lane.status().reason]);
  assert.match(lane.status().reason ?? '', /answered 410: .*paused until its configuration changes or `resume` is run/);
  queue({ partitionKey: 'b' });
  await pass(DAY - SECOND);
  queue({ partitionKey: 'c' });
  await pass(MINUTE);
  assert.equal(receiver.requests.length, 1);
  assert.deepEqual(
    store.dead.map(({ row, reason, status }) => [row.partitionKey, reason, status]),
    [
      ['a', 'expired', null],
      ['b', 'expired', null],
    ],
  );
  receiver.default = { status: 204 };
  store.resume('under-test');
  lane.wake();
  await pass(0);
  assert.deepEqual(
    store.accepted.map(({ partitionKey }) => partitionKey),
    ['c'],
  );
  assert.equal(time.pending, 0);
  assert.deepEqual(
    told().map(({ level, msg }) => [level, msg.split(':')[0]]),
    [
      [
        50,
        'the sink wants no more deliveries and is paused until its configuration changes or `resume --sink NAME` is run; what is queued for it waits',
      ],
      [40, 'deliveries expired while the sink is retired'],
      [30, 'the sink was retired and is resumed'],
    ],
  );
});

for (const status of [
  400, 402, 405, 406, 409, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424, 426, 428, 431, 451, 499,
]) {
  test(`${status} makes only that delivery a dead letter, at once (W-13)`, async (t) => {
    const { receiver, store, queue, pass, lane, told } = await webhookLane(t);
    receiver.next({ status, headers: { 'retry-after': '60' }, body: 'no' });
    queue({ seq: 1, partitionKey: 'a' });
    queue({ seq: 2, partitionKey: 'a' });
    await pass(0);
    assert.deepEqual(
      store.dead.map(({ row, reason, status: said }) => [row.id.slice(-1), reason, said]),
      [['1', 'refused', status]],
    );
    assert.deepEqual([store.accepted.length, receiver.requests.length, lane.status().state], [1, 2, 'delivering']);
    assert.equal(told().length, 1);
  });
}

test('an unknown status is retried', async (t) => {
  const { receiver, store, queue, pass } = await webhookLane(t);
  receiver.next({ status: 600 }, { status: 999 });
  queue();
  await pass(0);
  await pass(250);
  await pass(500);
  assert.deepEqual([receiver.requests.length, store.accepted.length], [3, 1]);
});

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);
const HELD: readonly (readonly [what: string, retryAfter: string | readonly string[], heldMs: number])[] = [
  ['seconds', '7', 7 * SECOND],
  ['seconds with spaces around them', ' 7 ', 7 * SECOND],
  ['an HTTP-date', 'Thu, 01 Jan 2026 12:00:30 GMT', 30 * SECOND],
  ['an HTTP-date with a year of two digits', 'Thursday, 01-Jan-26 12:00:30 GMT', 30 * SECOND],
  ['an HTTP-date in the form of asctime', 'Thu Jan  1 12:00:30 2026', 30 * SECOND],
  ['the longest that counts', '3600', HOUR],
  ['a year, of which an hour counts', '31536000', HOUR],
  ['a date in a year, of which an hour counts', 'Fri, 01 Jan 2027 12:00:00 GMT', HOUR],
  ['more seconds than a number holds', '9'.repeat(400), HOUR],
  ['the first of several', ['5', '500'], 5 * SECOND],
];
const NOT_HELD: readonly (readonly [what: string, retryAfter: string | readonly string[]])[] = [
  ['0', '0'],
  ['a negative number', '-60'],
  ['a plus sign', '+60'],
  ['a fraction', '60.5'],
  ['an exponent', '6e1'],
  ['a hexadecimal number', '0x3c'],
  ['a number with a unit', '60s'],
  ['a list', '60, 120'],
  ['garbage', 'soon'],
  ['nothing', ''],
  ['a date in the past', 'Thu, 01 Jan 2026 11:00:00 GMT'],
  ['a two-digit year of the past', 'Friday, 01-Jan-99 12:00:30 GMT'],
  ['a date that is none', 'Thu, 31 Feb 2026 12:00:30 GMT'],
  ['a date of ISO 8601', '2026-01-01T12:01:00Z'],
];

for (const status of [429, 503, 403]) {
  for (const [what, value, heldMs] of HELD) {
    test(`Retry-After on ${status} with ${what} holds the whole sink for ${heldMs / SECOND} s (W-13, S-9)`, async (t) => {
      const { receiver, queue, pass, lane } = await webhookLane(t, { startMs: NOW });
      receiver.next(withRetryAfter(status, value));
      queue({ partitionKey: 'a' });
      await pass(0);
      assert.equal(lane.status().state, status === 403 ? 'misconfigured' : 'held');
      queue({ partitionKey: 'b' });
      await pass(heldMs - 1);
      assert.equal(receiver.requests.length, 1);
      await pass(1);
      if (heldMs < 10 * SECOND && status === 403) await pass(10 * SECOND - heldMs);
      assert.equal(receiver.requests.length, 3);
    });
  }
}

for (const [what, value] of NOT_HELD) {
  test(`Retry-After with ${what} holds nothing: its event backs off as usual, others are sent`, async (t) => {
    const { receiver, queue, pass } = await webhookLane(t, { startMs: NOW });
    receiver.next(withRetryAfter(503, value));
    queue({ partitionKey: 'a' });
    await pass(0);
    queue({ partitionKey: 'b' });
    await pass(0);
    assert.equal(receiver.requests.length, 2);
    await pass(250);
    assert.equal(receiver.requests.length, 3);
  });
}

test('a Retry-After of a century, after the wall clock was set back, holds for an hour', async (t) => {
  const { receiver, queue, pass, time } = await webhookLane(t, { startMs: NOW });
  time.jumpWall(-100 * 365 * DAY);
  receiver.next(withRetryAfter(503, 'Thu, 01 Jan 2026 12:00:30 GMT'));
  queue();
  await pass(0);
  await pass(HOUR - 1);
  assert.equal(receiver.requests.length, 1);
  await pass(1);
  assert.equal(receiver.requests.length, 2);
});

function withRetryAfter(status: number, value: string | readonly string[]): Answer {
  const lines = (typeof value === 'string' ? [value] : value).map((line) => `Retry-After: ${line}\r\n`).join('');
  return (_, socket) => socket.end(`HTTP/1.1 ${status} No\r\nConnection: close\r\nContent-Length: 0\r\n${lines}\r\n`);
}
