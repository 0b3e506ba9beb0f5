// GET /v1/stream: who may read, where it begins, what the filters let through, and what is refused.
import assert from 'node:assert/strict';
import type http from 'node:http';
import test, { type TestContext } from 'node:test';
import type { JournalledEntry } from '../../../../src/model/events.ts';
import { type EventStream, readStream } from '../../../support/event-stream.ts';
import { poll } from '../../../support/poll.ts';
import { type HttpFixture, READER, readerToken, serve } from '../../../virtual/http-fixture.ts';
import { entry } from '../../../virtual/outbox-fixture.ts';

const JSON_TYPE = 'application/problem+json';

function journalled(
  position: number,
  change = 'scheduled',
  event: object = {},
  attributes: object = {},
): JournalledEntry {
  const made = entry(`e${position}:1`, { change, data: { eventType: 'Reboot', resources: ['web_0'], ...event } });
  const parsed = JSON.parse(new TextDecoder().decode(made.bytes)) as object;
  return {
    ...made,
    position,
    bytes: new TextEncoder().encode(JSON.stringify({ ...parsed, impact: 'reboot', ...attributes })),
  };
}

function open(
  t: TestContext,
  { port }: HttpFixture,
  query = '',
  headers: http.OutgoingHttpHeaders = {},
): Promise<EventStream> {
  return readStream(t, `http://127.0.0.1:${port}/v1/stream${query}`, headers);
}

function ids({ events }: EventStream): number[] {
  return events.map(({ id }) => id);
}

test('each CloudEvent that is committed comes at once: its position, its change and its bytes on one line', async (t) => {
  const fixture = await serve(t);
  fixture.commit(journalled(1));
  const stream = await open(t, fixture);
  const { headers } = stream;
  assert.deepEqual(
    [
      stream.status,
      headers['content-type'],
      headers['cache-control'],
      headers['x-accel-buffering'],
      headers['journal-position'],
    ],
    [200, 'text/event-stream', 'no-store', 'no', '1'],
  );
  await stream.until(() => stream.text.startsWith(':'));
  const hostile = journalled(2, 'updated', {
    description: '</script>\n\ndata: {}\r\u2028<img src=x onerror=alert(1)>',
  });
  fixture.commit(hostile, journalled(3, 'ended'));
  await stream.until(() => stream.events.length === 2);
  assert.deepEqual(
    stream.events.map(({ id, event }) => [id, event]),
    [
      [2, 'updated'],
      [3, 'ended'],
    ],
  );
  assert.equal(stream.events[0]?.data, new TextDecoder().decode(hostile.bytes));
});

test('it resumes behind ?after=, 0 being all that is kept, and Last-Event-ID wins', async (t) => {
  const fixture = await serve(t);
  for (let position = 1; position <= 100; position++) fixture.commit(journalled(position));
  const all = await open(t, fixture, '?after=0');
  const some = await open(t, fixture, '?after=0', { 'last-event-id': '98' });
  await Promise.all([all.until(() => all.events.length === 100), some.until(() => some.events.length === 2)]);
  assert.deepEqual(
    ids(all),
    Array.from({ length: 100 }, (_, index) => index + 1),
  );
  fixture.commit(journalled(101));
  await Promise.all([all.until(() => all.events.length === 101), some.until(() => some.events.length === 3)]);
  assert.deepEqual(ids(some), [99, 100, 101]);
});

test('an invalid position, or one beyond the newest, is 400; one after which rows were pruned is 410', async (t) => {
  const fixture = await serve(t);
  fixture.pruned = 5;
  fixture.commit(journalled(6));
  const ask = async (query: string, headers: http.OutgoingHttpHeaders = {}) => {
    const { status, json } = await fixture.send('GET', `/v1/stream${query}`, { headers });
    return [status, json['type']];
  };
  for (const nonsense of ['x', '-1', '1.5', '1e3', '7', '9999999999999999', '1,2'])
    assert.deepEqual(await ask('', { 'last-event-id': nonsense }), [400, 'position'], nonsense);
  for (const query of ['?after=', '?after=x', '?after=1&after=2', '?after=7'])
    assert.deepEqual(await ask(query), [400, 'position'], query);
  assert.deepEqual(await ask('?after=4'), [410, 'pruned']);
  const kept = await open(t, fixture, '?after=0');
  const exact = await open(t, fixture, '?after=5');
  await Promise.all([kept.until(() => kept.events.length === 1), exact.until(() => exact.events.length === 1)]);
});

/** Of one occurrence of an event. */
function ofEvent(
  key: string,
  position: number,
  change = 'scheduled',
  occurrence = 1,
  event: object = {},
): JournalledEntry {
  return { ...journalled(position, change, event), key, occurrence };
}

/** Events a, b and c are listed, d has ended. */
async function listing(t: TestContext): Promise<HttpFixture> {
  const fixture = await serve(t);
  fixture.listed = ['c', 'a', 'b'].map((key) => ({ key, occurrence: 2 }));
  fixture.commit(
    ofEvent('a', 1, 'scheduled', 1),
    ofEvent('a', 2, 'ended', 1),
    ofEvent('a', 3, 'scheduled', 2),
    ofEvent('b', 4, 'scheduled', 2),
    ofEvent('d', 5, 'scheduled', 2),
    ofEvent('a', 6, 'updated', 2, { resources: ['db_0'] }),
    ofEvent('d', 7, 'ended', 2),
    ofEvent('b', 8, 'started', 2),
    ofEvent('b', 9, 'approval.submitted', 2),
  );
  return fixture;
}

test('?begin=listed first gives the newest CloudEvent of each listed event, then the position, then what follows', async (t) => {
  const fixture = await listing(t);
  const read = async (query: string, expected: number[]) => {
    const stream = await open(t, fixture, `?begin=listed${query}`);
    assert.equal(stream.headers['journal-position'], '9');
    await stream.until(() => stream.text.includes(':\nid: 9\n\n'));
    assert.deepEqual(ids(stream), expected, query);
    return stream;
  };
  const streams = [
    await read('', [6, 8]),
    await read('&changes=scheduled', [3, 4]),
    await read('&resources=db_*', [6]),
    await read('&changes=scheduled,updated,ended', [4, 6]),
    await read('&impacts=Freeze', []),
  ];
  fixture.commit(ofEvent('a', 10, 'ended', 2, { resources: ['db_0'] }));
  const followed = [...streams.slice(0, 1), ...streams.slice(2, 4)];
  await Promise.all(followed.map((stream) => stream.until(() => ids(stream).includes(10))));
  assert.deepEqual(ids(streams[0] ?? assert.fail()), [6, 8, 10]);
});

test('beside ?begin=listed, Last-Event-ID wins, and ?after= or another value is 400', async (t) => {
  const fixture = await listing(t);
  const stream = await open(t, fixture, '?begin=listed', { 'last-event-id': '7' });
  await stream.until(() => stream.events.length === 2);
  assert.deepEqual(ids(stream), [8, 9]);
  for (const query of ['begin=listed&after=3', 'begin=now', 'begin=', 'begin=Listed', 'begin=listed&begin=listed']) {
    const { status, json } = await fixture.send('GET', `/v1/stream?${query}`);
    assert.deepEqual([status, json['type']], [400, 'bad-request'], query);
  }
});

test('?begin=listed is 503 until it is known if the stored events are of this VM', async (t) => {
  const fixture = await listing(t);
  fixture.listed = null;
  const { status, headers, json } = await fixture.send('GET', '/v1/stream?begin=listed');
  assert.deepEqual([status, headers['retry-after'], json['type']], [503, '5', 'unavailable']);
});

test('filters judge each CloudEvent alone; what the bridge says of itself is judged by its change alone', async (t) => {
  const fixture = await serve(t);
  fixture.commit(
    journalled(1),
    journalled(2, 'started'),
    journalled(3, 'scheduled', { resources: ['db_0'] }, { impact: 'freeze' }),
    journalled(4, 'source.blind', {}, { impact: undefined }),
    journalled(5, 'approval.recorded', { resources: undefined }),
    journalled(6, 'ended', { resources: ['WEB_7', 'db_0'] }),
  );
  const read = async (query: string, expected: number[]) => {
    const stream = await open(t, fixture, `?after=0&${query}`);
    await stream.until(() => stream.events.length >= expected.length);
    assert.deepEqual(ids(stream), expected, query);
  };
  await read('changes=scheduled,ended', [1, 3, 6]);
  await read('changes=scheduled&changes=source.blind', [1, 3, 4]);
  await read('impacts=REBOOT', [1, 2, 4, 5, 6]);
  await read('resources=web_*', [1, 2, 4, 6]);
  await read('impacts=Reboot&resources=db_0&changes=ended', [6]);
});

test('an unknown value or parameter is 400 and says what there is', async (t) => {
  const fixture = await serve(t);
  const faults = [
    'changes=gone',
    'changes=',
    'impacts=Fire',
    'impacts=Reboot,',
    'resources=',
    'change=ended',
    'token=secret',
  ];
  for (const query of [...faults, `resources=${'x'.repeat(257)}`, `resources=${'x,'.repeat(70)}x`]) {
    const { status, headers, json } = await fixture.send('GET', `/v1/stream?${query}`);
    assert.deepEqual([status, headers['content-type'], json['type']], [400, JSON_TYPE, 'bad-request'], query);
  }
  assert.match(
    String((await fixture.send('GET', '/v1/stream?impacts=x')).json['detail']),
    /Freeze, reboot|Freeze, Reboot/i,
  );
});

test('a glob of many stars that nearly matches delays nobody: other requests are answered, other readers get their events', async (t) => {
  const fixture = await serve(t);
  const names = Array.from({ length: 60 }, (_, index) => `aks-nodepool1-12345678-vmss0000${index}-${'a'.repeat(24)}`);
  const hard = ['*?', '*a', '*a?'].map((part) => `${part.repeat(80)}!x`);
  for (let position = 1; position <= 20; position++)
    fixture.commit(journalled(position, 'scheduled', { resources: names }));
  const nothing = await open(t, fixture, `?after=0&resources=${encodeURIComponent(hard.join(','))}`);
  const all = await open(t, fixture, '?after=0&resources=aks-*');
  await all.until(() => all.events.length === 20);
  assert.equal((await fixture.send('GET', '/v1/events')).status, 200);
  fixture.commit(journalled(21, 'scheduled', { resources: ['aks-last'] }));
  await all.until(() => all.events.length === 21);
  assert.deepEqual(ids(nothing), []);
});

test('signs of other globs are 400, and the answer says what to write instead', async (t) => {
  const fixture = await serve(t);
  for (const glob of ['web_[01]', '{web_0', 'web_(0|1)', 'web\\_0', '!web_0', 'web_*,!x']) {
    const { status, json } = await fixture.send('GET', `/v1/stream?resources=${encodeURIComponent(glob)}`);
    assert.deepEqual([status, json['type']], [400, 'bad-request'], glob);
    assert.match(String(json['detail']), /using only \* and \?|only \* \(any text\) and \?/, glob);
  }
});

test('only readers can read it, and none under a foreign Host or from a page of another site', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  const ask = async (headers: http.OutgoingHttpHeaders) =>
    (await fixture.send('GET', '/v1/stream', { headers })).status;
  assert.equal(await ask({}), 401);
  assert.equal(await ask({ authorization: 'Bearer wrong' }), 401);
  const authorization = `Bearer ${READER}`;
  assert.equal(await ask({ authorization, origin: 'https://evil.example' }), 403);
  // A page on another port of the same host is of the same site, and a browser sends no Origin with its GET.
  for (const site of ['cross-site', 'same-site'])
    assert.equal(await ask({ authorization, 'sec-fetch-site': site }), 403, site);
  for (const site of ['same-origin', 'none'])
    assert.equal((await open(t, fixture, '', { authorization, 'sec-fetch-site': site })).status, 200, site);
  const local = await serve(t);
  assert.equal((await local.send('GET', '/v1/stream', { headers: { host: 'evil.example' } })).status, 421);
});

test('HEAD returns the headers and keeps nothing open', async (t) => {
  const fixture = await serve(t);
  const { status, headers } = await fixture.send('HEAD', '/v1/stream');
  assert.deepEqual([status, headers['content-type'], fixture.streams.readers], [200, 'text/event-stream', 0]);
});

/** So many at once, as the caller with this token; without one, as nobody in particular. */
async function openMany(t: TestContext, fixture: HttpFixture, count: number, token?: string): Promise<EventStream[]> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const readers: EventStream[] = [];
  while (readers.length < count)
    readers.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(50, count - readers.length) }, () => open(t, fixture, '', headers)),
      )),
    );
  return readers;
}

test('no caller has more than a quarter of the places, so that a caller with a token always finds one', async (t) => {
  const fixture = await serve(t);
  const refused = async (headers: http.OutgoingHttpHeaders = {}) => {
    const { status, json } = await fixture.send('GET', '/v1/stream', { headers });
    return [status, json['type']];
  };
  const authorization = (index: number) => ({ authorization: `Bearer ${readerToken(index)}` });
  const crowd = await openMany(t, fixture, 250);
  assert.deepEqual(await refused(), [503, 'too-many-readers']);
  assert.deepEqual(
    await refused({ authorization: 'Bearer of-nobody-at-all' }),
    [503, 'too-many-readers'],
    'a wrong token is no other caller',
  );
  assert.equal((await open(t, fixture, '', authorization(0))).status, 200);
  await openMany(t, fixture, 249, readerToken(0));
  assert.deepEqual(await refused(authorization(0)), [503, 'too-many-readers']);
  assert.equal((await open(t, fixture, '', authorization(1))).status, 200);
  crowd[0]?.close();
  await poll(() => fixture.streams.readers === 500, 'the end of a reader');
  assert.equal((await open(t, fixture)).status, 200);
});

test('the 1,001st reader gets Retry-After, other requests are answered, and a place that was left is free', async (t) => {
  const fixture = await serve(t);
  const readers: EventStream[] = [];
  for (const index of [0, 1, 2, 3]) readers.push(...(await openMany(t, fixture, 250, readerToken(index))));
  assert.equal(fixture.streams.readers, 1000);
  const refused = await fixture.send('GET', '/v1/stream');
  assert.deepEqual(
    [refused.status, refused.json['type'], refused.headers['retry-after']],
    [503, 'too-many-readers', '5'],
  );
  assert.equal((await fixture.send('GET', '/v1/events')).status, 200);
  fixture.commit(journalled(1));
  await Promise.all(readers.map((reader) => reader.until(() => reader.events.length === 1)));
  readers[0]?.close();
  await poll(() => fixture.streams.readers === 999, 'the end of a reader');
  assert.equal((await open(t, fixture)).status, 200);
});
