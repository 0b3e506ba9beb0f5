// Requests and answers → the ones that become a line of a recording.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  answer,
  documentOf,
  eventOf,
  get,
  post,
  RecorderFixture,
  START_MS,
} from '../../../virtual/recording-fixture.ts';

const FIRST = documentOf(2, eventOf());
const SECOND = documentOf(3, eventOf({ EventStatus: 'Started', NotBefore: '' }));

test('a document becomes a line with its time and api-version when it is new, and none while it stays', () => {
  const fixture = new RecorderFixture();
  fixture
    .record(get(), answer(200, FIRST))
    .record(get(), answer(200, FIRST))
    .record(get(), answer(304))
    .record(get(), answer(200, SECOND));
  assert.deepEqual(fixture.lines, [
    { at: '2026-11-21T14:00:01.000Z', apiVersion: '2020-07-01', document: FIRST },
    { at: '2026-11-21T14:00:04.000Z', apiVersion: '2020-07-01', document: SECOND },
  ]);
});

test('a document with another order of keys or other white space is not new', () => {
  const fixture = new RecorderFixture();
  const turned = {
    Events: FIRST.Events.map((event) => Object.fromEntries(Object.entries(event).reverse())),
    DocumentIncarnation: 2,
  };
  fixture.record(get(), answer(200, FIRST)).record(get(), answer(200, JSON.stringify(turned, null, 2)));
  assert.equal(fixture.lines.length, 1);
});

test('a document with another incarnation is new, even with the same events, as is an old one that comes back', () => {
  const fixture = new RecorderFixture();
  for (const document of [FIRST, documentOf(4, eventOf()), FIRST]) fixture.record(get(), answer(200, document));
  assert.equal(fixture.lines.length, 3);
});

test('unknown fields are recorded as received', () => {
  const fixture = new RecorderFixture();
  const document = { Comment: [1], ...documentOf(1, { ...eventOf(), Extra: { a: null } } as never) };
  fixture.record(get(), answer(200, document));
  assert.deepEqual(fixture.said(), [{ document }]);
});

test('each machine and each api-version has its own documents', () => {
  const fixture = new RecorderFixture();
  fixture
    .record(get(), answer(200, FIRST), 'a')
    .record(get(), answer(200, FIRST), 'b')
    .record(get('2019-08-01'), answer(200, FIRST), 'a');
  assert.deepEqual(
    fixture.lines.map(({ vm, apiVersion }) => [vm, apiVersion]),
    [
      ['a', '2020-07-01'],
      ['b', '2020-07-01'],
      ['a', '2019-08-01'],
    ],
  );
});

test('a run of equal unexpected answers is one line, and the first good answer after it another', () => {
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

test('a new document after unexpected answers is recorded as usual', () => {
  const fixture = new RecorderFixture();
  fixture
    .record(get(), answer(200, FIRST))
    .record(get(), answer(503))
    .record(get(), answer(200, SECOND))
    .record(get(), answer(200, SECOND));
  assert.deepEqual(fixture.said(), [{ document: FIRST }, { answer: { status: 503, body: '' } }, { document: SECOND }]);
});

test('a connection that was reset or cut off, and an upstream that was unreachable, are unexpected answers', () => {
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
  test(`a 200 with ${what} is an unexpected answer with its body`, () => {
    const fixture = new RecorderFixture().record(get(), answer(200, body));
    assert.deepEqual(fixture.said(), [
      { answer: { status: 200, body: typeof body === 'string' ? body : JSON.stringify(body) } },
    ]);
  });
}

test('the first 16,384 characters of a long unexpected body are kept', () => {
  const fixture = new RecorderFixture().record(get(), answer(500, 'x'.repeat(20_000)));
  assert.equal(fixture.lines[0]?.answer?.body?.length, 16_384);
});

test('each POST is a line with its StartRequests and its status, even if equal to the one before', () => {
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

test("a refusal for the client's own mistake is not recorded, nor is any other route or method", () => {
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

test('letter case of the path is ignored', () => {
  const fixture = new RecorderFixture().record(
    { ...get(), url: '/Metadata/ScheduledEvents?API-VERSION=2020-07-01' },
    answer(200, FIRST),
  );
  assert.equal(fixture.lines.length, 1);
});

test('a 304 for a document that was not seen is not recorded', () => {
  assert.deepEqual(new RecorderFixture().record(get(), answer(304)).lines, []);
});

test('no request header is recorded', () => {
  const fixture = new RecorderFixture();
  const headers = { Metadata: 'true', Authorization: 'Bearer hunter2', Cookie: 'hunter2' };
  fixture.record(get('2020-07-01', headers), answer(200, FIRST)).record({ ...post('{}'), headers }, answer(400));
  assert.doesNotMatch(JSON.stringify(fixture.lines), /hunter2/);
});

test('times never go back, even if the clock does', () => {
  const fixture = new RecorderFixture();
  for (const [index, atMs] of [START_MS - 5000, START_MS + 9000, START_MS + 2000].entries()) {
    fixture.recorder.record(get(), answer(200, documentOf(index)), atMs);
  }
  assert.deepEqual(
    fixture.lines.map(({ at }) => Date.parse(at) - START_MS),
    [0, 9000, 9000],
  );
});
