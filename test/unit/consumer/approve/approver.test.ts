// Approvals, holds, releases → requests to bridge and brokers, and the results of their answers.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import { parseMessageBody } from '../../../../src/approvals/requests/message-requests.ts';
import { kafka, serviceBus } from '../../../../src/consumer/approve/approval-brokers.ts';
import { type HttpOptions, httpOn } from '../../../../src/consumer/approve/approval-http.ts';
import { type ApprovalChannel, createApprover } from '../../../../src/consumer/approve/approver.ts';
import { ConsumerError } from '../../../../src/consumer/consumer-error.ts';
import { readStructured } from '../../../../src/consumer/read-event.ts';
import type { Change } from '../../../../src/model/events.ts';
import { poll } from '../../../support/poll.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';
import { deliveryOf, lifeOf } from '../deliveries.ts';

const TOKEN = 'correct-horse-battery-staple';
const EVENT_ID = 'C7061BAC-AFDC-4513-B24B-AA5F13A16123';
const life = lifeOf();

function eventOf(change: Change) {
  return readStructured(JSON.parse(Buffer.from(deliveryOf(change).bytes).toString()));
}

interface Asked {
  readonly line: string;
  readonly authorization: string | undefined;
  readonly type: string | undefined;
  readonly body: string;
}

type Answer = readonly [status: number, body?: unknown, headers?: Record<string, string>] | 'cut' | 'hang';

/** A bridge with scripted answers, one for each request; the last one repeats. */
async function bridge(t: TestContext, ...answers: readonly Answer[]) {
  const asked: Asked[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { authorization, 'content-type': type } = request.headers;
    asked.push({
      line: `${request.method} ${request.url}`,
      authorization,
      type,
      body: Buffer.concat(chunks).toString(),
    });
    const given = answers[Math.min(asked.length, answers.length) - 1];
    if (given === 'hang' || given === undefined) return;
    if (given === 'cut') return void request.socket.destroy();
    const [status, body, headers = {}] = given;
    response
      .writeHead(status, headers)
      .end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  t.after(close);
  const time = new VirtualTime();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const approverWith = (options: Partial<HttpOptions> = {}) =>
    createApprover(httpOn({ url, token: TOKEN, ...options }, time));
  return { asked, time, url, close, approverWith, approver: approverWith() };
}

const SUBMITTED = { eventId: EVENT_ID, state: 'submitted', approvedBy: ['orders'] };
const OK: Answer = [200, { results: [SUBMITTED] }];

/** The error that a call rejects with. */
async function errorOf(call: Promise<unknown>): Promise<ConsumerError> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof ConsumerError, String(error));
    assert.ok(!error.message.includes(TOKEN));
    return error;
  }
  return assert.fail('nothing was refused');
}

test('an approval by a CloudEvent sends its id as Seen, with the token, and returns the result', async (t) => {
  const { asked, approver } = await bridge(t, OK);
  assert.deepEqual(await approver.approve(eventOf(life.scheduled)), SUBMITTED);
  assert.deepEqual(asked, [
    {
      line: 'POST /v1/approvals',
      authorization: `Bearer ${TOKEN}`,
      type: 'application/json',
      body: JSON.stringify({ StartRequests: [{ EventId: EVENT_ID, Seen: `${EVENT_ID.toLowerCase()}:scheduled` }] }),
    },
  ]);
});

test('Seen is sent only with scheduled and updated, or as the caller says', async (t) => {
  const { asked, approver } = await bridge(t, OK);
  await approver.approve(eventOf(life.updated({})));
  await approver.approve(eventOf(life.started));
  await approver.approve(EVENT_ID);
  await approver.approve(eventOf(life.scheduled), { seen: null });
  await approver.approve(EVENT_ID, { seen: 'x' });
  assert.deepEqual(
    asked.map(({ body }) => JSON.parse(body).StartRequests[0].Seen),
    ['c7061bac-afdc-4513-b24b-aa5f13a16123:updated:1', undefined, undefined, undefined, 'x'],
  );
});

for (const result of [
  { eventId: EVENT_ID, state: 'waiting', approvedBy: ['orders'], waitingFor: ['billing'] },
  { eventId: EVENT_ID, state: 'held', approvedBy: ['orders'], heldBy: ['billing'] },
  { eventId: EVENT_ID, state: 'submitting', approvedBy: ['orders'] },
]) {
  test(`a 202 with state ${result.state} is a result`, async (t) => {
    const { approver } = await bridge(t, [202, { results: [result] }]);
    assert.deepEqual(await approver.approve(EVENT_ID), result);
  });
}

test('a hold and its release have their own routes, below the path of the url', async (t) => {
  const { asked, url, approverWith } = await bridge(t, [201, { eventId: EVENT_ID, holds: [] }], [204]);
  const approver = approverWith({ url: `${url}/bridges/one` });
  await approver.hold(eventOf(life.scheduled), 'primary');
  await approver.release('a/b');
  await approver.release(EVENT_ID, { holder: 'night & day' });
  assert.deepEqual(
    asked.map(({ line, body, type }) => [line, body, type]),
    [
      ['POST /bridges/one/v1/holds', JSON.stringify({ EventId: EVENT_ID, reason: 'primary' }), 'application/json'],
      ['DELETE /bridges/one/v1/holds/a%2Fb', '', undefined],
      [`DELETE /bridges/one/v1/holds/${EVENT_ID}?approver=night+%26+day`, '', undefined],
    ],
  );
});

for (const [status, type] of [
  [400, 'bad-request'],
  [401, 'unauthorized'],
  [403, 'scope'],
  [404, 'seen-unknown'],
  [409, 'changed'],
  [410, 'ended'],
  [502, 'refused'],
] as const) {
  test(`${status} ${type} is refused at once, with the bridge's reason`, async (t) => {
    const { asked, approver } = await bridge(t, [status, { type, title: 'No', status, detail: 'because of this' }]);
    const { code, type: given, status: answered, message } = await errorOf(approver.approve(EVENT_ID));
    assert.deepEqual([code, given, answered, asked.length], ['refused', type, status, 1]);
    assert.match(message, /because of this/);
  });
}

for (const [what, answer] of [
  ['HTML', [200, '<html>']],
  ['no result', [200, { results: [] }]],
  ['a redirect', [302, '', { location: 'http://127.0.0.1:1/' }]],
  ['a missing page', [404, 'nothing here']],
] as const satisfies readonly [string, Answer][]) {
  test(`${what} is not accepted as an answer of a bridge`, async (t) => {
    const { asked, approver } = await bridge(t, answer);
    const calls = [
      () => approver.approve(EVENT_ID),
      () => approver.hold(EVENT_ID, 'primary'),
      () => approver.release(EVENT_ID),
    ];
    for (const call of calls) {
      const { code, status, message } = await errorOf(call());
      assert.deepEqual([code, status], ['refused', answer[0]]);
      assert.match(message, /not as a bridge does: check url/);
    }
    assert.equal(asked.length, 3);
  });
}

/** Advances the time until the call has settled, and returns how much passed. */
async function passing(time: VirtualTime, call: Promise<unknown>): Promise<number> {
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  call.then(done, done);
  const beganMs = time.elapsedMs();
  await poll(async () => {
    // Only pauses are skipped: while an attempt runs, its limit is the only timer.
    if (time.pending > 0) await time.advance(250);
    return isDone;
  }, 'the approval');
  return time.elapsedMs() - beganMs;
}

for (const [what, answer] of [
  ['503', [503, { type: 'unavailable', detail: 'later' }]],
  ['429', [429, { type: 'too-many-requests', detail: 'later' }]],
  ['a 502 of a proxy', [502, '<html>']],
  ['a broken connection', 'cut'],
] as const satisfies readonly [string, Answer][]) {
  test(`${what} is retried`, async (t) => {
    const { asked, time, approverWith } = await bridge(t, answer, answer, OK);
    const call = approverWith({ timeoutMs: 1e9 }).approve(EVENT_ID);
    await passing(time, call);
    assert.deepEqual([await call, asked.length], [SUBMITTED, 3]);
  });
}

test('a retry waits as Retry-After asks', async (t) => {
  const { time, approverWith } = await bridge(t, [503, {}, { 'retry-after': '30' }], OK);
  const call = approverWith({ timeoutMs: 1e9, retryForMs: 1e9 }).approve(EVENT_ID);
  assert.ok((await passing(time, call)) >= 30_000);
  assert.deepEqual(await call, SUBMITTED);
});

test('after retryForMs the call rejects with the last failure', async (t) => {
  const { asked, time, approverWith } = await bridge(t, [503, {}]);
  const call = errorOf(approverWith({ timeoutMs: 1e9, retryForMs: 60_000 }).approve(EVENT_ID));
  await passing(time, call);
  const { code, status, message } = await call;
  assert.deepEqual([code, status], ['unreachable', 503]);
  assert.match(message, /within 60 s: it answered 503/);
  assert.ok(asked.length > 5 && asked.length < 20, `${asked.length} attempts`);
});

test('a bridge that cannot be reached is reported with the error code', async (t) => {
  const { approverWith, close } = await bridge(t, OK);
  await close();
  const { code, message } = await errorOf(approverWith({ retryForMs: 0 }).approve(EVENT_ID));
  assert.equal(code, 'unreachable');
  assert.match(message, /ECONNREFUSED/);
});

test('an attempt at a bridge that hangs ends after timeoutMs', async (t) => {
  const { asked, time, approverWith } = await bridge(t, 'hang');
  const call = errorOf(approverWith({ timeoutMs: 5000, retryForMs: 0 }).approve(EVENT_ID));
  await poll(() => asked.length === 1, 'the request');
  await time.advance(5000);
  assert.match((await call).message, /no answer within 5000 ms/);
});

test("a signal ends an attempt, a pause and a call that has not begun, with the signal's reason", async (t) => {
  for (const answer of ['hang', [503, {}]] as const) {
    const { asked, approver } = await bridge(t, answer);
    const stop = new AbortController();
    const call = assert.rejects(approver.approve(EVENT_ID, { signal: stop.signal }), /^Error: enough$/);
    await poll(() => asked.length === 1, 'the request');
    stop.abort(new Error('enough'));
    await call;
    await assert.rejects(approver.approve(EVENT_ID, { signal: stop.signal }), /^Error: enough$/);
    assert.equal(asked.length, 1);
  }
});

test('a token function is called at each attempt', async (t) => {
  const tokens = ['old', 'new'];
  const { asked, time, approverWith } = await bridge(t, [503, {}], OK);
  await passing(time, approverWith({ token: async () => tokens.shift() ?? '', timeoutMs: 1e9 }).approve(EVENT_ID));
  assert.deepEqual(
    asked.map(({ authorization }) => authorization),
    ['Bearer old', 'Bearer new'],
  );
});

test('a release that finds no hold succeeds after a lost answer, and is refused at the first attempt', async (t) => {
  const notHeld = [404, { type: 'not-held', title: 'No such hold', status: 404, detail: 'nobody holds it' }] as const;
  const { asked, time, approverWith } = await bridge(t, 'cut', notHeld);
  const approver = approverWith({ timeoutMs: 1e9 });
  const call = approver.release(EVENT_ID);
  await passing(time, call);
  await call;
  assert.equal(asked.length, 2);
  assert.equal((await errorOf(approver.release(EVENT_ID))).type, 'not-held');
});

test('a retried release sends the time of its first attempt, so that it lifts no later hold', async (t) => {
  const changed = [409, { type: 'changed', title: 'The event changed', status: 409, detail: 'set after it' }] as const;
  const { asked, time, approverWith } = await bridge(t, [503, {}], 'cut', changed);
  const first = encodeURIComponent(new Date(time.wallMs()).toISOString());
  const call = errorOf(approverWith({ timeoutMs: 1e9 }).release(EVENT_ID, { holder: 'orders' }));
  await passing(time, call);
  assert.equal((await call).type, 'changed');
  const repeated = `DELETE /v1/holds/${EVENT_ID}?approver=orders&before=${first}`;
  assert.deepEqual(
    asked.map(({ line }) => line),
    [`DELETE /v1/holds/${EVENT_ID}?approver=orders`, repeated, repeated],
  );
});

test('a token that is not allowed in a header is refused at once, and not shown', async (t) => {
  const { asked, approverWith } = await bridge(t, OK);
  for (const token of ['', 'first-secret\nsecond-secret', 'first secret', 'secret-ä']) {
    const { code, message } = await errorOf(approverWith({ token: () => token }).approve(EVENT_ID));
    assert.equal(code, 'usage');
    assert.ok(!message.includes('secret'), message);
  }
  await approverWith({ token: 'of-a-file-with-a-line-end\n' }).approve(EVENT_ID);
  assert.deepEqual(
    asked.map(({ authorization }) => authorization),
    ['Bearer of-a-file-with-a-line-end'],
  );
});

for (const [url, message] of [
  ['http://bridge.example.com', /unencrypted/],
  ['http://127.0.0.1.example.com', /unencrypted/],
  ['ftp://127.0.0.1/', /unencrypted/],
  ['bridge.example.com:8700', /unencrypted/],
  ['//bridge', /must be an https/],
  ['https://user:secret@bridge.example.com', /must not have a user/],
  ['https://bridge.example.com/?token=secret', /must not have a user/],
] as const) {
  test(`the url ${url.replace(/secret/, '…')} is refused`, () => {
    assert.throws(
      () => httpOn({ url, token: TOKEN }, new VirtualTime()),
      (error) =>
        error instanceof ConsumerError &&
        error.code === 'usage' &&
        message.test(error.message) &&
        !error.message.includes('secret'),
    );
  });
}

test('https is allowed anywhere, http on loopback, and http elsewhere with allowInsecure', () => {
  for (const url of ['https://bridge.example.com', 'http://localhost:8700', 'http://127.1.2.3/', 'http://[::1]:8700'])
    assert.ok(httpOn({ url, token: TOKEN }, new VirtualTime()));
  assert.ok(httpOn({ url: 'http://bridge.example.com', token: TOKEN, allowInsecure: true }, new VirtualTime()));
});

test('an event without an EventId cannot be approved', async () => {
  const approver = createApprover({ send: () => assert.fail('nothing is sent') });
  for (const event of ['', { ...eventOf(life.scheduled), data: {} }])
    assert.equal((await errorOf(approver.approve(event))).code, 'usage');
});

/** Sends an approval, a hold and a release through the channel of a broker. */
async function callsOn(channel: ApprovalChannel): Promise<void> {
  const approver = createApprover(channel);
  const event = eventOf(life.scheduled);
  assert.deepEqual(await approver.approve(event), { eventId: EVENT_ID, state: 'sent' });
  await approver.hold(event, 'primary');
  await approver.release(EVENT_ID);
  await approver.release(EVENT_ID, { holder: 'orders' });
}

const MESSAGES = [
  { StartRequests: [{ EventId: EVENT_ID, Seen: `${EVENT_ID.toLowerCase()}:scheduled` }] },
  { Holds: [{ EventId: EVENT_ID, reason: 'primary' }] },
  { Releases: [{ EventId: EVENT_ID }] },
  { Releases: [{ EventId: EVENT_ID, approver: 'orders' }] },
];

test('over Kafka each is a record keyed by the event, acknowledged by all in-sync replicas', async () => {
  const sent: Parameters<Parameters<typeof kafka>[0]['send']>[0][] = [];
  await callsOn(kafka({ send: async (record) => sent.push(record) }, { topic: 'approvals' }));
  assert.deepEqual(
    sent.map(({ topic, acks, messages: [message] }) => [
      topic,
      acks,
      message?.key,
      message?.headers,
      JSON.parse(message?.value ?? ''),
    ]),
    MESSAGES.map((body) => ['approvals', -1, EVENT_ID.toLowerCase(), { 'content-type': 'application/json' }, body]),
  );
  const [first] = sent;
  assert.deepEqual(
    parseMessageBody(Buffer.from(first?.messages[0]?.value ?? '')),
    { value: MESSAGES[0] },
    "the bridge's source reads it",
  );
});

test('over Service Bus each is a message, with a session for each event if the entity requires sessions', async () => {
  const sent: object[] = [];
  const sender = { sendMessages: async (message: object) => void sent.push(message) };
  await callsOn(serviceBus(sender));
  assert.deepEqual(
    sent.splice(0),
    MESSAGES.map((body) => ({ body, contentType: 'application/json' })),
  );
  await callsOn(serviceBus(sender, { sessions: true }));
  assert.deepEqual(
    new Set(sent.map((message) => (message as { sessionId?: string }).sessionId)),
    new Set([EVENT_ID.toLowerCase()]),
  );
});

test('a broker failure is reported with its cause, and after an abort nothing is sent', async () => {
  const cause = new Error('no leader');
  const approver = createApprover(kafka({ send: () => Promise.reject(cause) }, { topic: 'approvals' }));
  const error = await errorOf(approver.approve(EVENT_ID));
  assert.deepEqual([error.code, error.cause], ['not-sent', cause]);
  await assert.rejects(
    approver.approve(EVENT_ID, { signal: AbortSignal.abort(new Error('enough')) }),
    /^Error: enough$/,
  );
});
