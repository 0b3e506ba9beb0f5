// The real OpenTelemetry Collector between sink and server → every field unchanged.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFailure } from '../../../adapters/otlp/export-answer.ts';
import { encodeJson } from '../../../adapters/otlp/json-encoder.ts';
import { resourceGroups } from '../../../adapters/otlp/resource-groups.ts';
import { startCollector, withoutCollector } from '../../far-sides/otlp/collector.ts';
import { LogReceiver, readRequest, recordsOf } from '../../far-sides/otlp/log-receiver.ts';
import { readJson } from '../../far-sides/otlp/read-request.ts';
import { failed } from '../contract.ts';
import { allDeliveries, describing } from './deliveries.ts';
import { createOtlp } from './start-otlp.ts';

const never = new AbortController().signal;

for (const encoding of ['protobuf', 'json'])
  for (const compression of ['gzip', 'none'])
    test(`the Collector reads every field of every type of CloudEvent: ${encoding}, ${compression}`, {
      skip: withoutCollector,
    }, async (t) => {
      const behind = await LogReceiver.start();
      t.after(() => behind[Symbol.asyncDispose]());
      const { adapter } = createOtlp(t, { url: await startCollector(t, behind.url), encoding, compression });
      assert.equal(await adapter.check(never), null);
      const batch = allDeliveries();
      assert.ok((await adapter.deliver(batch, never)).every((outcome) => outcome === 'accepted'));
      const [request] = behind.http.requests;
      assert.ok(request);
      const arrived = recordsOf(readRequest(request));
      assert.deepEqual(arrived, recordsOf(readJson(encodeJson(resourceGroups(batch)))));
    });

for (const [type, body] of [
  ['application/x-protobuf', Buffer.from([0x0a, 200, 1])],
  ['application/json', Buffer.from('{"resourceLogs":[{"scopeLogs":7}]}')],
] as const)
  test(`the Collector rejects ${type} that is not a request with 400 and a message`, {
    skip: withoutCollector,
  }, async (t) => {
    const behind = await LogReceiver.start();
    t.after(() => behind[Symbol.asyncDispose]());
    const url = `${await startCollector(t, behind.url)}/v1/logs`;
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body });
    assert.equal(answer.status, 400);
    assert.notEqual(readFailure(Buffer.from(await answer.arrayBuffer())), '');
  });

test('a rejection by the Collector’s backend is a failure of the delivery, and is logged', {
  skip: withoutCollector,
}, async (t) => {
  const behind = await LogReceiver.start();
  t.after(() => behind[Symbol.asyncDispose]());
  const { adapter, deps } = createOtlp(t, { url: await startCollector(t, behind.url) });
  behind.http.default = { status: 400 };
  const failure = failed((await adapter.deliver([describing('x')], never))[0]);
  assert.deepEqual([failure.status, failure.disposition], [400, 'refused']);
  assert.match(deps.logged(), /the receiver of log records sent a message: see answer/);
});

test('a Collector that cannot export is retried after the pause that it requests', {
  skip: withoutCollector,
}, async (t) => {
  const behind = await LogReceiver.start();
  t.after(() => behind[Symbol.asyncDispose]());
  const { adapter } = createOtlp(t, { url: await startCollector(t, behind.url) });
  behind.http.next({ status: 503, headers: { 'retry-after': '7' } });
  const failure = failed((await adapter.deliver([describing('x')], never))[0]);
  assert.equal(failure.disposition, 'retry');
  assert.deepEqual(await adapter.deliver([describing('x')], never), ['accepted']);
});
