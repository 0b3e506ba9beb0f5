// Each address behind a name → judged at connect time; connections go to allowed ones alone.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Resolve } from '../../../src/net/private-addresses.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createWebhook, startWebhook } from './start-webhook.ts';

const never = new AbortController().signal;

/** A name service with these answers, in order, the last one for good; counts its questions. */
function nameService(...answers: readonly (readonly string[])[]) {
  let asked = 0;
  const resolve: Resolve = (_host, _options, done) => {
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    process.nextTick(
      done,
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { resolve, asked: () => asked };
}

async function refusal(
  t: TestContext,
  url: string,
  addresses: readonly string[],
  allowPrivate: readonly string[] = [],
) {
  const { adapter } = createWebhook(t, { options: { url, allowPrivate }, resolve: nameService(addresses).resolve });
  const [outcome] = await adapter.deliver([sampleDelivery()], never);
  const failure = failed(outcome);
  await assert.rejects(adapter.check(never), { code: failure.code });
  return failure;
}

for (const host of [
  '127.0.0.1',
  '2130706433',
  '0x7f.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '10.1.2.3',
  '[fe80::1]',
  '0.0.0.0',
  '[64:ff9b::a00:1]',
  '[2002:a00:1::]',
  ...['127.1', '127.0.1', '0', '0177.0.0.1', '0x7f000001', '017700000001', '0x7f.0.0.0x1', '127.0.0.1.', '100.64.0.1'],
  ...['１２７.０.０.１', '127。0。0。1', '%31%32%37.0.0.1', '10.66051', '0xC0A80101'],
  ...[
    '[::]',
    '[::127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:FFFF:127.0.0.1]',
    '[fd00::1]',
    '[fec0::1]',
    '[64:ff9b:1::a00:1]',
  ],
]) {
  test(`http://${host}/ is rejected without a look-up (W-15, S-11)`, async (t) => {
    const failure = await refusal(t, `http://${host}:9/hook?token=hidden`, []);
    assert.deepEqual(
      [failure.code, failure.disposition, failure.scope],
      ['BRIDGE_SINK_FORBIDDEN_ADDRESS', 'misconfigured', 'sink'],
    );
    assert.match(failure.message, /sinks\.under-test\.allowPrivate/);
    assert.doesNotMatch(failure.message, /hidden|hook/);
  });
}

for (const host of [
  '169.254.169.254',
  '168.63.129.16',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:a83f:8110::]',
  '2852039166',
  ...[
    '0xa9fea9fe',
    '0xA9.0xFE.0xA9.0xFE',
    '0251.0376.0251.0376',
    '169.254.43518',
    '169.16689662',
    '169.254.169.254.',
    '0xa83f8110',
  ],
  ...[
    '１６９.２５４.１６９.２５４',
    '169。254。169。254',
    '[::a9fe:a9fe]',
    '[64:ff9b:1::a9fe:a9fe]',
    '[::ffff:168.63.129.16]',
  ],
]) {
  test(`http://${host}/ is rejected regardless of allowPrivate (W-15, S-11)`, async (t) => {
    const failure = await refusal(t, `http://${host}:9/`, [], ['0.0.0.0/0', '::/0']);
    assert.equal(failure.code, 'BRIDGE_SINK_FORBIDDEN_ADDRESS');
    assert.match(failure.message, /metadata service/);
    assert.doesNotMatch(failure.message, /allowPrivate/, 'nothing that would not help is advised');
  });
}

for (const [addresses, allowed] of [
  [['10.0.0.5'], []],
  [['127.0.0.1', '::1', '192.168.1.1'], []],
  [['fd00::5'], ['10.0.0.0/8']],
  [['169.254.169.254'], ['0.0.0.0/0']],
] as const) {
  test(`a name for ${addresses.join(' and ')} is rejected if ${allowed.join(' ') || 'nothing'} is allowed`, async (t) => {
    assert.equal(
      (await refusal(t, 'http://rebound.test:9/', addresses, allowed)).code,
      'BRIDGE_SINK_FORBIDDEN_ADDRESS',
    );
  });
}

test('the sink connects only to the allowed addresses of a name (W-15, S-11)', async (t) => {
  const { receiver, adapter } = await startNamed(t, [['10.0.0.5', '169.254.169.254', '127.0.0.1', '::1']]);
  assert.deepEqual(await adapter.deliver([sampleDelivery()], never), ['accepted']);
  assert.equal(receiver.requests[0]?.headers.host, `named.test:${receiver.port}`);
});

test('a name is resolved once for each connection, so that it cannot change between the check and the connect (W-15, S-11)', async (t) => {
  const { receiver, adapter, names } = await startNamed(t, [['127.0.0.1'], ['10.0.0.5']]);
  assert.deepEqual(await adapter.deliver([sampleDelivery()], never), ['accepted']);
  assert.equal(names.asked(), 1);
  receiver.next({ status: 204, headers: { connection: 'close' } });
  assert.deepEqual(await adapter.deliver([sampleDelivery()], never), ['accepted'], 'the open connection is used again');
  assert.equal(names.asked(), 1);
  const [outcome] = await adapter.deliver([sampleDelivery()], never);
  assert.equal(failed(outcome).code, 'BRIDGE_SINK_FORBIDDEN_ADDRESS', 'a new connection is judged anew');
  assert.equal(names.asked(), 2);
});

test('a link-local address with a zone is rejected; a url cannot contain one', async (t) => {
  assert.equal((await refusal(t, 'http://zoned.test:9/', ['fe80::1%eth0'])).code, 'BRIDGE_SINK_FORBIDDEN_ADDRESS');
  assert.throws(() => createWebhook(t, { options: { url: 'http://[fe80::1%25eth0]/' } }), /complete URL/);
});

for (const [host, asked] of [
  ['NAMED.Test', 'named.test'],
  ['named.test.', 'named.test.'],
  ['bücher.test', 'xn--bcher-kva.test'],
  ['ｎａｍｅｄ.ｔｅｓｔ', 'named.test'],
  ['127.0.0.1.named.test', '127.0.0.1.named.test'],
] as const) {
  test(`http://${host}/ is looked up as ${asked} and checked by its addresses`, async (t) => {
    const { receiver } = await startWebhook(t);
    const hosts: string[] = [];
    const { resolve } = nameService(['127.0.0.1'], ['127.0.0.1', '169.254.169.254'], ['169.254.169.254']);
    const { adapter } = createWebhook(t, {
      options: { url: `http://${host}:${receiver.port}/` },
      resolve: (name, ...rest) => {
        hosts.push(name);
        resolve(name, ...rest);
      },
    });
    receiver.default = { status: 204, headers: { connection: 'close' } };
    assert.deepEqual(await adapter.deliver([sampleDelivery()], never), ['accepted']);
    assert.deepEqual(await adapter.deliver([sampleDelivery()], never), ['accepted']);
    assert.equal(failed((await adapter.deliver([sampleDelivery()], never))[0]).code, 'BRIDGE_SINK_FORBIDDEN_ADDRESS');
    assert.deepEqual(hosts, [asked, asked, asked]);
    assert.equal(receiver.requests.length, 2);
  });
}

test("the results of the system's own look-up are checked too", async (t) => {
  const { receiver } = await startWebhook(t);
  const url = `http://LOCALHOST:${receiver.port}/hook`;
  const { adapter } = createWebhook(t, { options: { url, allowPrivate: [] } });
  assert.equal(failed((await adapter.deliver([sampleDelivery()], never))[0]).code, 'BRIDGE_SINK_FORBIDDEN_ADDRESS');
  const { adapter: allowed } = createWebhook(t, { options: { url } });
  assert.deepEqual(await allowed.deliver([sampleDelivery()], never), ['accepted']);
  assert.equal(receiver.requests.length, 1);
});

for (const status of [301, 302, 303, 307, 308]) {
  test(`a ${status} is never followed, regardless of its target`, async (t) => {
    const { receiver, deliver } = await startWebhook(t);
    const { receiver: elsewhere } = await startWebhook(t);
    for (const location of [elsewhere.url, 'http://169.254.169.254/metadata', '/other']) {
      receiver.next({ status, headers: { location } });
      const failure = failed(await deliver());
      assert.deepEqual([failure.disposition, failure.status], ['misconfigured', status]);
    }
    assert.deepEqual([receiver.requests.length, elsewhere.connections], [3, 0]);
  });
}

test('a look-up without any address is a failure, not a connection', async (t) => {
  assert.match((await refusal(t, 'http://empty.test:9/', [])).message, /no address/);
});

async function startNamed(t: TestContext, answers: readonly (readonly string[])[]) {
  const { receiver } = await startWebhook(t);
  const names = nameService(...answers);
  const { adapter } = createWebhook(t, {
    options: { url: `http://named.test:${receiver.port}/hook` },
    resolve: names.resolve,
  });
  return { receiver, adapter, names };
}
