// A kind of sink made here and a server on loopback → what the kit does for every kind.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import * as v from 'valibot';
import { secretAuthorization } from '../../../../adapters/http/authorization.ts';
import { connectionEntries } from '../../../../adapters/http/connections.ts';
import { batchEntries, httpChecks, httpEntries } from '../../../../adapters/http/http-options.ts';
import { type HttpSinkKind, httpSink } from '../../../../adapters/http/http-sink.ts';
import { BridgeError } from '../../../../src/errors.ts';
import { secret } from '../../../../src/schema/pieces.ts';
import { adapterDeps } from '../../../adapters/adapter-deps.ts';
import { failed, openSecrets } from '../../../adapters/contract.ts';
import { sampleDelivery } from '../../../adapters/sample-deliveries.ts';
import { WebhookReceiver } from '../../../far-sides/webhook-receiver.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

const never = new AbortController().signal;
const options = v.pipe(
  v.strictObject({
    ...httpEntries,
    ...batchEntries('', { members: 500, bytes: '1MiB' }),
    ...connectionEntries,
    token: secret(),
  }),
  httpChecks(),
);
const JSON_TYPE = { 'content-type': 'application/json' };

async function started(
  t: TestContext,
  kind: Partial<HttpSinkKind> = {},
  given: Readonly<Record<string, unknown>> = {},
) {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const folder = mkdtempSync(join(tmpdir(), 'http-sink-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'token');
  writeFileSync(file, 'old');
  const definition = httpSink<v.InferOutput<typeof options>>({
    type: 'made-up',
    options,
    make: ({ token }, deps) => ({
      inFlight: 3,
      authorization: secretAuthorization([['token', token]], ([value]) => `Key ${value}`, deps),
      encode: (batch) => ({ headers: JSON_TYPE, body: JSON.stringify(batch.map(({ id }) => id)) }),
      ...kind,
    }),
  });
  const url = receiver.url;
  const parsed = v.parse(options, {
    url,
    allowInsecure: true,
    allowPrivate: ['127.0.0.0/8'],
    token: { file },
    ...given,
  });
  openSecrets(parsed, {});
  const time = new VirtualTime();
  const deps = adapterDeps({ time });
  const adapter = definition.create(parsed, deps);
  t.after(() => adapter.close());
  return { adapter, receiver, file, time, deps };
}

const two = [sampleDelivery({ seq: 1 }), sampleDelivery({ seq: 2 })];

test('a batch is one POST with the authorization of the kind; the status table judges it', async (t) => {
  const { adapter, receiver } = await started(t);
  assert.deepEqual(await adapter.deliver(two, never), ['accepted', 'accepted']);
  const [request] = receiver.requests;
  assert.deepEqual(
    [request?.method, request?.path, request?.headers.authorization, request?.headers['content-type']],
    ['POST', '/hook', 'Key old', 'application/json'],
  );
  assert.deepEqual(
    JSON.parse(String(request?.body)),
    two.map(({ id }) => id),
  );
  receiver.default = { status: 413 };
  await assert.rejects(adapter.deliver(two, never), {
    code: 'BRIDGE_SINK_REFUSED',
    disposition: 'refused',
    isNamed: false,
    status: 413,
  });
});

test('the limits are those of the options, with fewer bytes if the kind makes events larger', async (t) => {
  assert.deepEqual((await started(t)).adapter.limits, { inFlight: 3, batch: 500, batchBytes: 1024 ** 2 });
  assert.equal((await started(t, { growth: 4 })).adapter.limits.batchBytes, 1024 ** 2 / 4);
});

test('a path goes behind that of the url, and its query in place of the url’s', async (t) => {
  for (const [path, expected] of [
    ['/_bulk', '/hook/_bulk?a=1'],
    ['/ack?channel=x', '/hook/ack?channel=x'],
    ['', '/hook?a=1'],
  ] as const) {
    const encode = () => ({ path, headers: JSON_TYPE, body: '' });
    const base = (url: URL) => new URL('/hook/?a=1', url);
    const { adapter, receiver } = await started(t, { encode, base });
    await adapter.deliver(two, never);
    assert.equal(receiver.requests[0]?.path, expected);
  }
});

test('a body is compressed if the kind demands it', async (t) => {
  const { adapter, receiver } = await started(t, {
    encode: () => ({ headers: JSON_TYPE, body: 'x'.repeat(1000), gzip: true }),
  });
  await adapter.deliver(two, never);
  const { headers, body } = receiver.requests[0] ?? assert.fail('no request');
  assert.equal(headers['content-encoding'], 'gzip');
  assert.equal(Number(headers['content-length']), body.length);
  assert.equal(String(gunzipSync(body)), 'x'.repeat(1000));
});

test('the kind judges each member by the body, which is null if it is too long', async (t) => {
  const { adapter, receiver } = await started(t, {
    judge: ({ body, status }, batch, { faults }) => {
      if (body === null) throw faults.noAnswer(status, 'a list');
      return batch.map((_, index) =>
        index === 0 ? 'accepted' : faults.refused({ said: 'says no', advice: 'look', status: 7 }, true),
      );
    },
  });
  receiver.default = { status: 200, body: '[]' };
  const [first, second] = await adapter.deliver(two, never);
  assert.equal(first, 'accepted');
  const { code, status, isNamed, message } = failed(second);
  assert.deepEqual([code, status, isNamed], ['BRIDGE_SINK_REFUSED', 7, true]);
  assert.match(message, /^sink under-test: http:\/\/127\.0\.0\.1:\d+ says no: look$/);
  receiver.default = (response) => {
    const chunk = Buffer.alloc(1024 ** 2);
    response.on('error', () => {}).writeHead(200, { 'content-length': 1024 ** 3 });
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more);
    more();
  };
  await assert.rejects(adapter.deliver(two, never), { code: 'BRIDGE_SINK_ANSWER', disposition: 'retry' });
});

test('a failure whose body breaks off is judged by its status, a success is not', async (t) => {
  const { adapter, receiver } = await started(t);
  for (const [status, expected] of [
    [403, { code: 'BRIDGE_SINK_MISCONFIGURED', status: 403 }],
    [200, { code: 'BRIDGE_SINK_BROKEN', disposition: 'retry' }],
  ] as const) {
    receiver.default = (response, socket) => {
      response.writeHead(status, { 'content-length': 100 });
      response.write('begun', () => socket.destroy());
    };
    await assert.rejects(adapter.deliver(two, never), expected);
  }
});

test('the kind can give a status a meaning of its own', async (t) => {
  const { adapter, receiver } = await started(t, {
    statuses: {
      400: { failure: 'misconfigured', disposition: 'misconfigured', scope: 'sink', advice: 'look at the rule' },
    },
  });
  receiver.default = { status: 400 };
  await assert.rejects(adapter.deliver(two, never), {
    code: 'BRIDGE_SINK_MISCONFIGURED',
    message: /answered 400: look at the rule$/,
  });
});

test('what the encoder throws is a refusal, and nothing is sent', async (t) => {
  const { adapter, receiver } = await started(t, {
    encode: () => {
      throw new TypeError('a payload');
    },
  });
  await assert.rejects(adapter.deliver(two, never), { code: 'BRIDGE_DELIVERY_UNENCODABLE', disposition: 'refused' });
  assert.equal(receiver.connections, 0);
});

test('a token and a header that were renewed in their files are used from the next second on', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'http-sink-header-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const team = join(folder, 'team');
  writeFileSync(team, 'one');
  const { adapter, receiver, file, time, deps } = await started(t, {}, { headers: { 'X-Team': { file: team } } });
  const sent = async () => {
    await adapter.deliver(two, never);
    const { headers } = receiver.requests.at(-1) ?? assert.fail('no request');
    return [headers.authorization, headers['x-team']];
  };
  assert.deepEqual(await sent(), ['Key old', 'one']);
  writeFileSync(file, 'renewed\n');
  writeFileSync(team, 'another\n');
  await time.advance(1000);
  assert.deepEqual(await sent(), ['Key renewed', 'another']);
  for (const useless of ['', 'two\nlines']) {
    writeFileSync(file, useless);
    await time.advance(1000);
    assert.deepEqual(await sent(), ['Key renewed', 'another']);
  }
  assert.match(deps.logged(), /the file of token changed and was read again/);
  assert.match(deps.logged(), /the file of token is unusable: the previous value stays in use/);
  assert.doesNotMatch(deps.logged(), /renewed"|two/);
});

test('a check connects and sends nothing, unless the kind asks', async (t) => {
  const plain = await started(t);
  assert.equal(await plain.adapter.check(never), null);
  assert.deepEqual([plain.receiver.connections, plain.receiver.requests.length], [1, 0]);
  const asking = await started(t, {
    check: async ({ post, faults }) => {
      const fault = faults.ofStatus(await post({ path: '/health', headers: {}, body: '' }));
      if (fault !== null) throw fault;
      return 'it is well';
    },
  });
  assert.equal(await asking.adapter.check(never), 'it is well');
  asking.receiver.default = { status: 503 };
  await assert.rejects(asking.adapter.check(never), BridgeError);
});
