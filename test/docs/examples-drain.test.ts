// docs/receive/examples/drain-an-http-service.md → its service and bridge keep what the page says.
import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import test, { type TestContext } from 'node:test';
import type { Program } from '../support/program.ts';
import { Example, linesOf, says } from './documented-example.ts';

const PAGE = 'drain-an-http-service';
const REFUSED = /^not approved: the bridge refused the approval for event .*: /;

/** A request that runs until the test ends it. */
async function slowRequest(port: number) {
  const request = httpRequest({ port, host: '127.0.0.1', method: 'POST' });
  request.on('error', () => {});
  request.write('first ');
  const response = await new Promise<IncomingMessage>((resolve) => request.once('response', resolve));
  return {
    end: async () => {
      request.end('last');
      return Buffer.concat(await response.toArray()).toString();
    },
  };
}

async function status(port: number): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x' })).status;
}

/** Running and watched. */
async function served(example: Example): Promise<Program> {
  const service = example.program('drain.js');
  await says(service, 'deliveries are taken');
  return service;
}

/** The page's service with one request that still runs, and the event for which it drains. */
async function draining(t: TestContext) {
  const example = await Example.on(t, PAGE);
  const service = await served(example);
  await example.bridge();
  const slow = await slowRequest(example.port);
  const event = example.schedule();
  await says(service, 'Reboot: no new requests, 1 still running');
  return { example, service, slow, event };
}

test('running requests end, new ones are refused, then it approves, and afterwards it serves again; a repeat does nothing; with the output of the page', async (t) => {
  const { example, service, slow, event } = await draining(t);
  await example.seen();
  assert.deepEqual([await status(example.port), example.azure.approvals()], [503, []]);
  assert.equal(await slow.end(), 'first last');
  await example.approved(event);
  assert.equal(await status(example.port), 503);
  await example.seen();
  await example.repeat();
  example.azure.advance('10m');
  await says(service, 'completed: requests are taken again');
  assert.equal(await status(example.port), 200);
  assert.deepEqual(linesOf(service), example.promised);
});

test('called off while it drains, it serves again and has approved nothing', async (t) => {
  const { example, service, slow, event } = await draining(t);
  example.azure.cancel(event.EventId);
  await example.seen();
  await slow.end();
  await says(service, REFUSED);
  await says(service, 'canceled: requests are taken again');
  assert.equal(await status(example.port), 200);
  assert.deepEqual(example.azure.approvals(), []);
});

test('killed while it drains, it starts closed, and approves when the delivery comes again', async (t) => {
  const { example, service, event } = await draining(t);
  await service.end('SIGKILL');
  const again = await served(example);
  assert.equal(await status(example.port), 503);
  await example.approved(event);
  await says(again, 'approved: submitted');
  await again.end('SIGKILL');
  const third = await served(example);
  assert.equal(await status(example.port), 503, 'after its approval, too');
  await example.seen();
  await example.repeat();
  example.azure.advance('10m');
  await says(third, 'completed: requests are taken again');
  assert.deepEqual([await status(example.port), example.azure.approvals()], [200, [event.EventId]]);
});

test('without notice it closes at once and approves nothing; a worse change is approved again; one of two events keeps it closed', async (t) => {
  const example = await Example.on(t, PAGE);
  const service = await served(example);
  await example.bridge();
  const sudden = example.schedule({ EventStatus: 'Started' });
  await says(service, 'Reboot: no new requests, 0 still running');
  const shared = example.schedule({ EventType: 'Redeploy', otherTenants: '1h' });
  await says(service, 'approved: submitted');
  example.azure.change(shared.EventId, { DurationInSeconds: 900, EventType: 'Terminate' });
  await says(service, 'Terminate: no new requests, 0 still running');
  await says(service, 'approved: submitted', 2);
  assert.deepEqual(new Set(example.azure.approvals()), new Set([shared.EventId]));
  await example.seen();
  example.azure.end(sudden.EventId);
  await says(service, 'completed: another event is still there');
  assert.equal(await status(example.port), 503);
  example.azure.cancel(shared.EventId);
  await says(service, /^(canceled|unknown): requests are taken again$/);
  assert.equal(await status(example.port), 200);
});

test('requests that do not end in time are not cut off, and nothing is approved', async (t) => {
  const example = await Example.on(t, PAGE, { DRAIN_SECONDS: '0.1' });
  const service = await served(example);
  await example.bridge();
  const slow = await slowRequest(example.port);
  const event = example.schedule();
  await says(service, '1 still running: not approved, it starts by itself');
  example.azure.start(event.EventId);
  await example.seen();
  example.azure.end(event.EventId);
  await says(service, 'completed: requests are taken again');
  assert.equal(await slow.end(), 'first last');
  assert.deepEqual(example.azure.approvals(), []);
});
