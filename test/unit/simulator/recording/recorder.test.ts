// What clients ask and are told → which of it becomes a line of a recording, and which not.
import assert from 'node:assert/strict';
import test from 'node:test';
import { answer, documentOf, eventOf, get, post, RecorderFixture, START_MS } from '../../../virtual/recording-fixture.ts';

const FIRST = documentOf(2, eventOf());
const SECOND = documentOf(3, eventOf({ EventStatus: 'Started', NotBefore: '' }));

test('each document is a line with its time and api-version when it is first seen, and none while it stays', () => {
  const fixture = new RecorderFixture();
  fixture.record(get(), answer(200, FIRST)).record(get(), answer(200, FIRST)).record(get(), answer(304)).record(get(), answer(200, SECOND));
  assert.deepEqual(fixture.lines, [
    { at: '2026-11-21T14:00:01.000Z', apiVersion: '2020-07-01', document: FIRST },
    { at: '2026-11-21T14:00:04.000Z', apiVersion: '2020-07-01', document: SECOND },
  ]);
});

test('a document with its keys in another order or other white space is the same', () => {
  const fixture = new RecorderFixture();
  const turned = { Events: FIRST.Events.map((event) => Object.fromEntries(Object.entries(event).reverse())), DocumentIncarnation: 2 };
  fixture.record(get(), answer(200, FIRST)).record(get(), answer(200, JSON.stringify(turned, null, 2)));
  assert.equal(fixture.lines.length, 1);
});

test('a document of another incarnation is another one, even with the same events, and so is an old one that comes back', () => {
  const fixture = new RecorderFixture();
  for (const document of [FIRST, documentOf(4, eventOf()), FIRST]) fixture.record(get(), answer(200, document));
  assert.equal(fixture.lines.length, 3);
});

test('fields that are not known here are recorded as they came', () => {
  const fixture = new RecorderFixture();
  const document = { Comment: [1], ...documentOf(1, { ...eventOf(), Extra: { a: null } } as never) };
  fixture.record(get(), answer(200, document));
  assert.deepEqual(fixture.said(), [{ document }]);
});

test('each machine and each api-version has documents of its own', () => {
  const fixture = new RecorderFixture();
  fixture.record(get(), answer(200, FIRST), 'a').record(get(), answer(200, FIRST), 'b').record(get('2019-08-01'), answer(200, FIRST), 'a');
  assert.deepEqual(
    fixture.lines.map(({ vm, apiVersion }) => [vm, apiVersion]),
    [
      ['a', '2020-07-01'],
      ['b', '2020-07-01'],
      ['a', '2019-08-01'],
    ],
  );
});

test('a run of equal odd answers is one line, and the first good answer after it another', () => {
  const fixture = new RecorderFixture();
  const html = { headers: { 'content-type': 'text/html', server: 'x' } };
  fixture
    .record(get(), answer(200, FIRST))
    .record(get(), answer(504, '<p>request 1</p>', html))
    .record(get(), answer(504, '<p>request 2</p>', html))
    .record(get(), answer(200))
    .record(get(), answer(200, FIRST))
    .record(get(), answer(429, '', { headers: { 'retry-after': '2' } }))
    .record(get(), answer(429, '', { headers: { 'retry-after': '1' } }))
    .record(get(), answer(304));
  assert.deepEqual(fixture.said(), [
    { document: FIRST },
    { answer: { status: 504, contentType: 'text/html', body: '<p>request 1</p>' } },
    { answer: { status: 200, body: '' } },
    { unchanged: true },
    { answer: { status: 429, retryAfter: '2', body: '' } },
    { unchanged: true },
  ]);
});

test('a new document after odd answers is written as ever', () => {
  const fixture = new RecorderFixture();
  fixture
    .record(get(), answer(200, FIRST))
    .record(get(), answer(503))
    .record(get(), answer(200, SECOND))
    .record(get(), answer(200, SECOND));
  assert.deepEqual(fixture.said(), [{ document: FIRST }, { answer: { status: 503, body: '' } }, { document: SECOND }]);
});

test('a connection that was reset or cut off, and an upstream that could not be reached, are odd answers', () => {
  const fixture = new RecorderFixture();
  const whole = answer(200, FIRST);
  fixture
    .record(get(), answer(502, '', { reset: true }))
    .record(get(), { ...whole, truncate: 9 })
    .record(get(), { ...whole, truncate: whole.body.length })
    .record(get(), answer(502, 'The recorder …', { unreachable: 'ECONNREFUSED' }));
  assert.deepEqual(fixture.said(), [
    { answer: { reset: true } },
    { answer: { status: 200, body: '{"Documen', cut: true } },
    { document: FIRST },
    { answer: { status: 502, body: 'The recorder …', unreachable: 'ECONNREFUSED' } },
  ]);
});

const NO_DOCUMENTS: Readonly<Record<string, unknown>> = {
  'broken JSON': '{"DocumentIncarnation":1,',
  'a list': [],
  'an incarnation that is a text': { ...FIRST, DocumentIncarnation: '2' },
  'an event without EventId': { DocumentIncarnation: 1, Events: [{ ...eventOf(), EventId: undefined }] },
  'an EventId twice': documentOf(1, eventOf({ EventId: 'a' }), eventOf({ EventId: 'A' })),
  'an unknown status': documentOf(1, { ...eventOf(), EventStatus: 'Completed' as never }),
};

for (const [what, body] of Object.entries(NO_DOCUMENTS)) {
  test(`a 200 with ${what} is an odd answer with its body`, () => {
    const fixture = new RecorderFixture().record(get(), answer(200, body));
    assert.deepEqual(fixture.said(), [{ answer: { status: 200, body: typeof body === 'string' ? body : JSON.stringify(body) } }]);
  });
}

test('of a long odd body the first 16,384 characters are kept', () => {
  const fixture = new RecorderFixture().record(get(), answer(500, 'x'.repeat(20_000)));
  assert.equal(fixture.lines[0]?.answer?.body?.length, 16_384);
});

test('each post is a line with what it asked for and its status, whether or not it is like the one before', () => {
  const fixture = new RecorderFixture();
  const requests = [{ EventId: 'A', Extra: 1 }];
  const body = JSON.stringify({ StartRequests: requests, Token: 'secret' });
  fixture
    .record(post(body), answer(200))
    .record(post(body), answer(200))
    .record(post('{'), answer(400))
    .record(post(body), answer(0, '', { reset: true }));
  fixture.record(post('{"StartRequests":{}}'), answer(504, '', { unreachable: 'timeout' }));
  assert.deepEqual(fixture.said(), [
    { post: { StartRequests: requests, status: 200 } },
    { post: { StartRequests: requests, status: 200 } },
    { post: { StartRequests: null, status: 400 } },
    { post: { StartRequests: requests, status: null } },
    { post: { StartRequests: null, status: 504, unreachable: 'timeout' } },
  ]);
});

test('a refusal that the client itself is to blame for is no line, nor is any other route or verb', () => {
  const fixture = new RecorderFixture();
  const refused = answer(400, '{"error":"Bad request."}');
  fixture
    .record(get('2020-07-01', {}), refused)
    .record(get('2020-07-01', { metadata: 'true', 'X-Forwarded-For': '10.0.0.1' }), refused)
    .record(get('latest'), refused)
    .record(get('2020-07-01&API-Version=2020-07-01'), refused)
    .record({ ...get(), url: '/metadata/scheduledevents' }, refused)
    .record({ ...get(), method: 'PUT' }, answer(405))
    .record({ ...get(), url: '/metadata/instance?api-version=2021-02-01' }, answer(200, '{"compute":{}}'));
  assert.deepEqual(fixture.lines, []);
});

test('the path counts without case', () => {
  const fixture = new RecorderFixture().record({ ...get(), url: '/Metadata/ScheduledEvents?API-VERSION=2020-07-01' }, answer(200, FIRST));
  assert.equal(fixture.lines.length, 1);
});

test('a 304 says nothing where the document was not seen', () => {
  assert.deepEqual(new RecorderFixture().record(get(), answer(304)).lines, []);
});

test('no request header gets into a line', () => {
  const fixture = new RecorderFixture();
  const headers = { Metadata: 'true', Authorization: 'Bearer hunter2', Cookie: 'hunter2' };
  fixture.record(get('2020-07-01', headers), answer(200, FIRST)).record({ ...post('{}'), headers }, answer(400));
  assert.doesNotMatch(JSON.stringify(fixture.lines), /hunter2/);
});

test('times never fall, even where the clock does', () => {
  const fixture = new RecorderFixture();
  for (const [index, atMs] of [START_MS - 5000, START_MS + 9000, START_MS + 2000].entries()) {
    fixture.recorder.record(get(), answer(200, documentOf(index)), atMs);
  }
  assert.deepEqual(
    fixture.lines.map(({ at }) => Date.parse(at) - START_MS),
    [0, 9000, 9000],
  );
});
