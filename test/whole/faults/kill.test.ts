// kill -9 of `run` at each point of its work → the next run loses nothing, repeats the same bytes.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { suite, type TestContext, test } from 'node:test';
import type { Simulator } from '../../../src/simulator/simulator.ts';
import type { SimulatedAzure } from '../../../src/simulator.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { FakeMetadata } from '../../far-sides/metadata-service.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { poll } from '../../support/poll.ts';
import type { Program } from '../../support/program.ts';
import {
  type BridgeFolder,
  bridgeFolder,
  hook,
  peek,
  polled,
  posts,
  received,
  startRun,
  TOKEN,
  urlOf,
} from '../../support/running-bridge.ts';
import { holdStore } from '../../support/store-hold.ts';
import { simulatorAlone } from '../../virtual/simulator-alone.ts';

const ENV = { env: { ORDERS_TOKEN: TOKEN } };

interface Fixture {
  readonly receiver: WebhookReceiver;
  readonly folder: BridgeFolder;
  readonly begin: () => Promise<Program>;
}

async function fixtureOf(t: TestContext, endpoint: string): Promise<Fixture> {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const approvals = { approvers: { orders: { token: { env: 'ORDERS_TOKEN' } } } };
  const folder = bridgeFolder(t, endpoint, { sinks: { hooks: hook(receiver.url) }, approvals });
  return { receiver, folder, begin: () => startRun(t, folder, ENV) };
}

async function simulated(t: TestContext): Promise<Fixture & { readonly simulator: SimulatedAzure }> {
  const simulator = await localSimulator(t);
  return { simulator, ...(await fixtureOf(t, simulator.url)) };
}

/** The bytes that are queued for the webhook, by id. */
function queued(folder: BridgeFolder): Map<string, string> {
  return peek(
    folder,
    (outbox) =>
      new Map(outbox.queue.queued('hooks', [], 1000).map(({ id, bytes }) => [id, Buffer.from(bytes).toString()])),
  );
}

/** Resolves when a document has been handled that was read after this call. */
async function handled(simulator: SimulatedAzure): Promise<void> {
  await polled(simulator);
  await polled(simulator);
}

suite('kill -9', { concurrency: 4 }, () => {
  test('before the commit leaves no trace, and the next run publishes the event once', async (t) => {
    const { simulator, receiver, folder, begin } = await simulated(t);
    const bridge = await begin();
    const release = holdStore(t, folder.store);
    const id = `${simulator.schedule().EventId.toLowerCase()}:scheduled`;
    await polled(simulator);
    await bridge.end('SIGKILL');
    release();
    assert.equal(
      peek(folder, (outbox) => outbox.journal.isUsed(id)),
      false,
    );
    await begin();
    await receiver.waitFor(1);
    await handled(simulator);
    assert.deepEqual(
      [...received(receiver.requests)].map(([key, bodies]) => [key, bodies.length]),
      [[id, 1]],
    );
  });

  test('after the commit, before any delivery, is followed by the delivery of what was stored', async (t) => {
    const { simulator, receiver, folder, begin } = await simulated(t);
    await receiver.stop();
    const bridge = await begin();
    const id = `${simulator.schedule().EventId.toLowerCase()}:scheduled`;
    await bridge.logs('"change stored"');
    await bridge.end('SIGKILL');
    const stored = queued(folder);
    assert.deepEqual([...stored.keys()], [id]);
    await receiver.start();
    await begin();
    await receiver.waitFor(1);
    assert.deepEqual([...received(receiver.requests)], [[id, [stored.get(id)]]]);
  });

  test('during a delivery is followed by the same bytes and id', async (t) => {
    const { simulator, receiver, begin } = await simulated(t);
    receiver.next('hang');
    const bridge = await begin();
    const id = `${simulator.schedule().EventId.toLowerCase()}:scheduled`;
    await receiver.waitFor(1);
    await bridge.end('SIGKILL');
    await begin();
    await receiver.waitFor(2);
    assertRepeated(receiver, id);
  });

  test('after the acceptance, before it is recorded, is followed by a repeat with the same bytes and id, and by no third', async (t) => {
    const { simulator, receiver, folder, begin } = await simulated(t);
    let release = () => {};
    receiver.next((response: ServerResponse) => {
      release = holdStore(t, folder.store);
      response.writeHead(204).end();
    });
    const bridge = await begin();
    const id = `${simulator.schedule().EventId.toLowerCase()}:scheduled`;
    await bridge.logs('outcomes could not be stored');
    await bridge.end('SIGKILL');
    release();
    const second = await begin();
    await receiver.waitFor(2);
    await poll(() => queued(folder).size === 0, 'the acceptance to be recorded');
    await second.end('SIGKILL');
    await begin();
    await handled(simulator);
    assertRepeated(receiver, id);
  });

  test('after an approval is stored, before it is posted, is followed by its StartRequest, once', async (t) => {
    const { simulator, receiver, begin } = await simulated(t);
    const { eventId } = await approvedInVain(simulator, await begin());
    simulator.clearFaults();
    const before = posts(simulator).length;
    await begin();
    const started = `${eventId.toLowerCase()}:started`;
    await poll(() => received(receiver.requests).has(started), 'the event to start');
    await handled(simulator);
    assert.deepEqual(posts(simulator).slice(before), [200]);
    const phases = [...received(receiver.requests).keys()].map((id) => id.split(':')[1]).sort();
    assert.deepEqual(phases, ['approval-recorded', 'approval-submitted', 'scheduled', 'started']);
    assertApproved(receiver, started);
  });

  test('after an approval is stored is followed by no StartRequest for an event that has started meanwhile', async (t) => {
    const { simulator, receiver, begin } = await simulated(t);
    const { eventId } = await approvedInVain(simulator, await begin());
    simulator.clearFaults();
    simulator.start(eventId);
    const before = posts(simulator).length;
    await begin();
    const started = `${eventId.toLowerCase()}:started`;
    await poll(() => received(receiver.requests).has(started), 'the event to start');
    await handled(simulator);
    assert.deepEqual(posts(simulator).slice(before), []);
  });

  test('after a StartRequest was accepted, before its answer came, is followed by no second one', async (t) => {
    const simulator = simulatorAlone({ deps: systemDeps() });
    const metadata = await metadataOf(t, simulator);
    const { receiver, begin } = await fixtureOf(t, metadata.url);
    const bridge = await begin();
    const answer = simulator.handle({ method: 'POST', url: '/simulator/events', headers: {}, body: new Uint8Array() });
    const { EventId } = JSON.parse(Buffer.from(answer.body).toString()) as { EventId: string };
    await receiver.waitFor(1);
    const answered = approve(bridge, EventId).catch(() => null);
    await poll(() => metadata.held.length === 1, 'the StartRequest');
    await bridge.end('SIGKILL');
    await answered;
    await begin();
    const started = `${EventId.toLowerCase()}:started`;
    await poll(() => received(receiver.requests).has(started), 'the event to start');
    const polls = metadata.requests.length;
    await poll(() => metadata.requests.length >= polls + 3, 'more polls');
    assert.equal(metadata.requests.filter(({ method }) => method === 'POST').length, 1);
    assertApproved(receiver, started);
  });
});

/** A kill while the approval stands stored as `submitting`, none of its StartRequests having reached the service. */
async function approvedInVain(simulator: SimulatedAzure, bridge: Program): Promise<{ eventId: string }> {
  simulator.fault({ method: 'POST', reset: true, times: 1000 });
  const eventId = simulator.schedule().EventId;
  await handled(simulator);
  const { status, body } = await approve(bridge, eventId);
  assert.deepEqual([status, body], [202, { results: [{ eventId, state: 'submitting', approvedBy: ['orders'] }] }]);
  await bridge.end('SIGKILL');
  assert.ok(posts(simulator).every((answer) => answer === null));
  return { eventId };
}

async function approve(bridge: Program, eventId: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${urlOf(bridge)}/v1/approvals`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ StartRequests: [{ EventId: eventId }] }),
  });
  return { status: response.status, body: await response.json() };
}

/** The simulator's answers, but StartRequests take effect and are never answered. */
async function metadataOf(t: TestContext, simulator: Simulator): Promise<FakeMetadata> {
  const metadata = await FakeMetadata.start(t);
  metadata.respond = ({ method, path, headers, body }) => {
    const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    const answer = simulator.handle({ method, url: path, headers: plain, body: Buffer.from(body) });
    return method === 'POST' ? 'hold' : { status: answer.status, body: answer.body };
  };
  return metadata;
}

/** Exactly two requests, of this id, with the same body. */
function assertRepeated(receiver: WebhookReceiver, id: string): void {
  const [[key, bodies = []] = [], ...others] = received(receiver.requests);
  assert.equal(key, id);
  assert.deepEqual(others, []);
  assert.equal(bodies.length, 2);
  assert.equal(bodies[0], bodies[1]);
}

/** The approval outlived the process: the CloudEvent names who approved. */
function assertApproved(receiver: WebhookReceiver, id: string): void {
  const [body = '{}'] = received(receiver.requests).get(id) ?? [];
  assert.deepEqual(JSON.parse(body).data.observer.approval.approvedBy, ['orders']);
}
