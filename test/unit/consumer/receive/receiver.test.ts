// Requests of a bridge, and others → the receiver's answers and the handlers that it calls.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ConsumerError } from '../../../../src/consumer/consumer-error.ts';
import type { CloudEvent } from '../../../../src/consumer/event.ts';
import type { Handlers } from '../../../../src/consumer/receive/handlers.ts';
import { type ReceiverOptions, receiverOn } from '../../../../src/consumer/receive/receiver.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';
import { deliveryOf, everyChange, lifeOf, OTHER_SECRET, post, requestOf, SECRET } from '../deliveries.ts';

const ALL: readonly (keyof Handlers)[] = [
  'onScheduled',
  'onUpdated',
  'onStarted',
  'onEnded',
  'onApprovalRecorded',
  'onApprovalSubmitted',
  'onApprovalFailed',
  'onSourceBlind',
  'onSourceRestored',
  'onOther',
];

/** A receiver without signatures, the calls of its handlers, and its errors. */
function fixture(options: Partial<ReceiverOptions> = {}) {
  const time = new VirtualTime();
  const calls: [name: string, event: CloudEvent][] = [];
  const errors: [error: unknown, id: string | null][] = [];
  const handlers = Object.fromEntries(ALL.map((name) => [name, (event: CloudEvent) => void calls.push([name, event])]));
  const onError = (error: unknown, event: CloudEvent | null) => void errors.push([error, event?.id ?? null]);
  const receiver = receiverOn(
    { unsigned: options.secrets === undefined, handlers, onError, ...options } as ReceiverOptions,
    time,
  );
  return {
    time,
    calls,
    errors,
    names: () => calls.map(([name]) => name),
    receive: (request: Request) => receiver(request),
  };
}

async function problemOf(response: Response): Promise<{ type: string; status: number; detail: string }> {
  assert.equal(response.headers.get('content-type'), 'application/problem+json');
  return (await response.json()) as { type: string; status: number; detail: string };
}

for (const mode of ['structured', 'binary'] as const) {
  test(`every change in ${mode} mode reaches its own handler, as the CloudEvent that the bridge made`, async () => {
    const { receive, calls, names } = fixture();
    for (const change of everyChange()) assert.equal((await receive(requestOf([change], { mode }))).status, 204);
    assert.deepEqual(names(), ALL.slice(0, 9));
    const made = everyChange().map((change) => JSON.parse(Buffer.from(deliveryOf(change).bytes).toString()));
    assert.deepEqual(
      calls.map(([, event]) => event),
      made,
    );
  });
}

test('every member of a batch is handled', async () => {
  const { receive, names } = fixture();
  assert.equal((await receive(requestOf(everyChange(), { mode: 'batch' }))).status, 204);
  assert.deepEqual(names().sort(), ALL.slice(0, 9).toSorted());
});

test('an empty batch is accepted', async () => {
  const { receive } = fixture();
  assert.equal((await receive(post('[]', { 'content-type': 'application/cloudevents-batch+json' }))).status, 204);
});

test('another type goes to onOther, and is acknowledged without it', async () => {
  const event = JSON.stringify({ specversion: '1.0', id: '1', source: '/s', type: 'com.example.lunch', data: 'soup' });
  const headers = { 'Content-Type': 'APPLICATION/CloudEvents+JSON' };
  const { receive, calls } = fixture();
  assert.equal((await receive(post(event, headers))).status, 204);
  assert.deepEqual(
    calls.map(([name, { data }]) => [name, data]),
    [['onOther', 'soup']],
  );
  assert.equal((await fixture({ handlers: {} }).receive(post(event, headers))).status, 204);
});

test('with another type prefix, that prefix is recognized and the default is not', async () => {
  const { receive, names } = fixture({ typePrefix: 'com.example.vm' });
  const bytes = Buffer.from(deliveryOf(lifeOf().scheduled).bytes).toString();
  const headers = { 'content-type': 'application/cloudevents+json' };
  await receive(post(bytes, headers));
  await receive(
    post(bytes.replace('io.github.scheduled-events-bridge', 'com.example.vm').replace('"id":"', '"id":"2'), headers),
  );
  assert.deepEqual(names(), ['onOther', 'onScheduled']);
});

for (const mode of ['structured', 'binary', 'batch'] as const) {
  test(`a signed delivery in ${mode} mode is accepted with either secret, and refused without one`, async () => {
    const { receive, time, names } = fixture({ secrets: [OTHER_SECRET, SECRET] });
    const wallMs = time.wallMs();
    const { scheduled } = lifeOf();
    assert.equal((await receive(requestOf([scheduled], { mode, wallMs, secrets: [SECRET] }))).status, 204);
    assert.equal((await receive(requestOf([scheduled], { mode, wallMs, secrets: [OTHER_SECRET] }))).status, 204);
    assert.deepEqual(names(), ['onScheduled']);
    const refused = await receive(requestOf([scheduled], { mode, wallMs }));
    assert.equal((await problemOf(refused)).type, 'unauthorized');
    assert.equal(refused.status, 401);
  });
}

test('a delivery older than the tolerance is refused, and reported to onError', async () => {
  const { receive, time, errors } = fixture({ secrets: SECRET, toleranceMs: 60_000 });
  const request = () => requestOf([lifeOf().scheduled], { wallMs: Date.UTC(2026, 0, 1), secrets: [SECRET] });
  await time.advance(60_000);
  assert.equal((await receive(request())).status, 204);
  await time.advance(1);
  assert.equal((await receive(request())).status, 401);
  const [[error] = []] = errors;
  assert.ok(error instanceof ConsumerError && error.code === 'unauthorized');
});

test('in binary mode the id of the event must be the signed one', async () => {
  const { receive, time, names } = fixture({ secrets: SECRET });
  const forged = requestOf([lifeOf().scheduled], {
    mode: 'binary',
    wallMs: time.wallMs(),
    secrets: [SECRET],
    headers: { 'ce-id': 'other' },
  });
  assert.equal((await receive(forged)).status, 401);
  assert.deepEqual(names(), []);
});

const EVENT = { specversion: '1.0', id: '1', source: '/s', type: 't' };
const STRUCTURED = 'application/cloudevents+json';
const BINARY = {
  'content-type': 'application/json',
  'ce-specversion': '1.0',
  'ce-id': '1',
  'ce-source': '/s',
  'ce-type': 't',
};
const SCHEDULED = 'io.github.scheduled-events-bridge.scheduled.v1';

const REFUSED: readonly [what: string, status: number, body: string | Uint8Array, headers: Record<string, string>][] = [
  ['plain JSON', 415, '{}', { 'content-type': 'application/json' }],
  ['a form', 415, 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['a body without a type', 415, new Uint8Array([1]), {}],
  ['an event in Avro', 415, 'x', { 'content-type': 'application/cloudevents+avro' }],
  ['a body that is not JSON', 400, '{', { 'content-type': STRUCTURED }],
  ['a body that is not UTF-8', 400, new Uint8Array([0x22, 0xff, 0x22]), { 'content-type': STRUCTURED }],
  ['an array in structured mode', 400, '[]', { 'content-type': STRUCTURED }],
  ['an object in batch mode', 400, '{}', { 'content-type': 'application/cloudevents-batch+json' }],
  [
    'a batch with one bad member',
    400,
    JSON.stringify([EVENT, {}]),
    { 'content-type': 'application/cloudevents-batch+json' },
  ],
  ['another specversion', 400, JSON.stringify({ ...EVENT, specversion: '0.3' }), { 'content-type': STRUCTURED }],
  ...['id', 'source', 'type'].map((name): (typeof REFUSED)[number] => [
    `no ${name}`,
    400,
    JSON.stringify({ ...EVENT, [name]: null }),
    { 'content-type': STRUCTURED },
  ]),
  ['an attribute with a dash', 400, JSON.stringify({ ...EVENT, 'a-b': 'c' }), { 'content-type': STRUCTURED }],
  ['an attribute that is an object', 400, JSON.stringify({ ...EVENT, a: {} }), { 'content-type': STRUCTURED }],
  ['a time that is not a date', 400, JSON.stringify({ ...EVENT, time: 'noon' }), { 'content-type': STRUCTURED }],
  [
    'both kinds of data',
    400,
    JSON.stringify({ ...EVENT, data: 1, data_base64: 'MQ==' }),
    { 'content-type': STRUCTURED },
  ],
  ['a change without data', 400, JSON.stringify({ ...EVENT, type: SCHEDULED }), { 'content-type': STRUCTURED }],
  [
    'a change with other data',
    400,
    JSON.stringify({ ...EVENT, type: SCHEDULED, data: { eventId: 1 } }),
    { 'content-type': STRUCTURED },
  ],
  [
    'a binary event without a source',
    400,
    '{}',
    { 'content-type': 'application/json', 'ce-id': '1', 'ce-specversion': '1.0', 'ce-type': 't' },
  ],
  ['binary data that is not JSON', 400, '{', BINARY],
  ['ce-datacontenttype', 400, '{}', { ...BINARY, 'ce-datacontenttype': 'application/json' }],
  ['a header that is not UTF-8', 400, '{}', { ...BINARY, 'ce-a': '%C0%A0' }],
];

for (const [what, status, body, headers] of REFUSED) {
  test(`${what} is refused with ${status}, and no handler is called`, async () => {
    const { receive, names, errors } = fixture();
    const answer = await receive(post(body, headers));
    assert.equal(answer.status, status);
    assert.equal((await problemOf(answer)).status, status);
    assert.deepEqual([names(), errors.length], [[], 1]);
  });
}

test('quoted and needlessly encoded headers are decoded once', async () => {
  const { receive, calls } = fixture();
  await receive(post('1.5', { ...BINARY, 'ce-subject': '"a \\"b\\" %e2%82%ac%2525 %41 100%"' }));
  assert.deepEqual([calls[0]?.[1].subject, calls[0]?.[1].data], ['a "b" €%25 A 100%', 1.5]);
});

test('data in Base64 is read by its content type', async () => {
  const { receive, calls } = fixture();
  const send = (more: object) => receive(post(JSON.stringify({ ...EVENT, ...more }), { 'content-type': STRUCTURED }));
  await send({ id: '1', datacontenttype: 'application/json', data_base64: 'eyJhIjoxfQ==' });
  await send({ id: '2', datacontenttype: 'image/png', data_base64: 'AQI=' });
  assert.deepEqual(
    calls.map(([, { data }]) => data),
    [{ a: 1 }, Buffer.from([1, 2])],
  );
});

test('a body above the limit is refused with 413, with or without Content-Length', async () => {
  const { receive } = fixture({ maxBodyBytes: 10 });
  const stream = ReadableStream.from([new Uint8Array(6), new Uint8Array(6)]);
  const long = new Request('http://receiver/', { method: 'POST', body: stream, duplex: 'half' } as RequestInit);
  const short = post('{"a":12345}', { 'content-type': STRUCTURED, 'content-length': '11' });
  for (const request of [long, short]) assert.equal((await receive(request)).status, 413);
  assert.equal((await receive(post('{"a":1234}', { 'content-type': STRUCTURED }))).status, 400, 'ten bytes are read');
});

test('other methods are refused with 405, and OPTIONS, too, without allowedOrigins', async () => {
  const { receive } = fixture();
  for (const method of ['GET', 'PUT', 'OPTIONS']) {
    const answer = await receive(new Request('http://receiver/', { method }));
    assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST']);
  }
});

test('only listed origins get consent, compared without case', async () => {
  const ask = async (options: Partial<ReceiverOptions>, origin?: string) => {
    const headers = origin === undefined ? {} : { 'WebHook-Request-Origin': origin, 'WebHook-Request-Rate': '120' };
    const { status, headers: answered } = await fixture(options).receive(
      new Request('http://receiver/', { method: 'OPTIONS', headers }),
    );
    return [
      status,
      answered.get('webhook-allowed-origin'),
      answered.get('webhook-allowed-rate'),
      answered.get('allow'),
    ];
  };
  const allowedOrigins = ['bridge.example.com'];
  assert.deepEqual(await ask({ allowedOrigins }, 'Bridge.Example.com'), [204, 'Bridge.Example.com', '*', 'POST']);
  assert.deepEqual(await ask({ allowedOrigins, allowedRate: 60 }, 'bridge.example.com'), [
    204,
    'bridge.example.com',
    '60',
    'POST',
  ]);
  assert.deepEqual(await ask({ allowedOrigins: ['*'] }, 'anyone.example.com'), [
    204,
    'anyone.example.com',
    '*',
    'POST',
  ]);
  for (const origin of ['evil.example.com', 'bridge.example.com.evil.com', undefined])
    assert.deepEqual(await ask({ allowedOrigins }, origin), [403, null, null, 'POST']);
});

test('a failed handler gives a 500 without its error, and is called again for the repeat', async () => {
  let failures = 1;
  const seen: string[] = [];
  const onScheduled = ({ id }: CloudEvent) => {
    seen.push(id);
    if (failures-- > 0) throw new Error('the password is hunter2');
  };
  const { receive, errors } = fixture({ handlers: { onScheduled } });
  const answer = await receive(requestOf([lifeOf().scheduled]));
  assert.equal(answer.status, 500);
  assert.doesNotMatch(await answer.text(), /hunter2/);
  assert.match(String(errors[0]?.[0]), /hunter2/);
  assert.equal(errors[0]?.[1], seen[0]);
  assert.equal((await receive(requestOf([lifeOf().scheduled]))).status, 204);
  assert.equal((await receive(requestOf([lifeOf().scheduled]))).status, 204);
  assert.equal(seen.length, 2);
});

test('after a failure in a batch, handled events are dropped when it comes again, and the failed event keeps its order', async () => {
  const [first, second] = [lifeOf({ eventId: 'A' }), lifeOf({ eventId: 'B' })];
  const seen: string[] = [];
  let isBroken = true;
  const handle = ({ id }: CloudEvent) => {
    seen.push(id);
    if (isBroken && id === 'a:scheduled') throw new Error('not now');
  };
  const { receive, errors } = fixture({ handlers: { onScheduled: handle, onStarted: handle } });
  const request = () =>
    requestOf([first.scheduled, second.scheduled, first.started, second.started], { mode: 'batch' });
  assert.equal((await receive(request())).status, 500);
  assert.deepEqual(seen.splice(0).sort(), ['a:scheduled', 'b:scheduled', 'b:started']);
  assert.deepEqual(
    errors.map(([, id]) => id),
    ['a:scheduled'],
  );
  isBroken = false;
  assert.equal((await receive(request())).status, 204);
  assert.deepEqual(seen, ['a:scheduled', 'a:started']);
});

test('with answer: received the 204 does not wait for the handlers, and only onError gets a failure', async () => {
  const gate = Promise.withResolvers<void>();
  const reported = Promise.withResolvers<unknown>();
  const { receive } = fixture({
    answer: 'received',
    handlers: { onScheduled: () => gate.promise },
    onError: reported.resolve,
  });
  assert.equal((await receive(requestOf([lifeOf().scheduled]))).status, 204);
  gate.reject(new Error('too late'));
  assert.equal(((await reported.promise) as Error).message, 'too late');
});

test('without onError the process emits a warning', async (t) => {
  const warned = t.mock.method(process, 'emitWarning', () => {});
  const time = new VirtualTime();
  const onScheduled = () => Promise.reject(new Error('not now'));
  const receiver = receiverOn({ unsigned: true, handlers: { onScheduled } }, time);
  await receiver(requestOf([lifeOf().scheduled]));
  assert.match(String(warned.mock.calls[0]?.arguments[0]), /event c7061bac-.*:scheduled was not handled: not now/);
});

for (const [what, options] of [
  ['neither secrets nor unsigned', {}],
  ['an empty list of secrets', { secrets: [] }],
  ['both secrets and unsigned', { secrets: [SECRET], unsigned: true }],
] as const) {
  test(`${what}: the receiver is refused`, () => {
    const make = () => receiverOn({ handlers: {}, ...options }, new VirtualTime());
    assert.throws(make, (error) => error instanceof ConsumerError && error.code === 'usage');
  });
}
