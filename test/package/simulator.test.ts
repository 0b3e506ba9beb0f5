// src/simulator.ts as other projects' tests use it → what a client on a real socket is told.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import * as v from 'valibot';
import { eventEntries } from '../../src/simulator/control/event-fields.ts';
import { faultOrder } from '../../src/simulator/control/fault-fields.ts';
import {
  BridgeError,
  type EventOrder,
  type FaultOrder,
  type SimulatedAzure,
  type StartOptions,
  startSimulator,
} from '../../src/simulator.ts';
import { folderOf } from '../support/folder.ts';
import { type Document, EVENTS } from '../virtual/simulation.ts';

async function start(t: TestContext, options: StartOptions = {}): Promise<SimulatedAzure> {
  const azure = await startSimulator(options);
  t.after(() => azure.close());
  return azure;
}

/** What a client does: reads the document, approves. */
async function read(url: string): Promise<Document> {
  const response = await fetch(url + EVENTS, { headers: { Metadata: 'true' } });
  assert.equal(response.status, 200);
  return (await response.json()) as Document;
}

async function approve(url: string, ...eventIds: readonly string[]): Promise<number> {
  const body = JSON.stringify({ StartRequests: eventIds.map((EventId) => ({ EventId })) });
  return (await fetch(url + EVENTS, { method: 'POST', headers: { Metadata: 'true' }, body })).status;
}

/** Its code, status and message. */
function refusal(work: () => unknown): Pick<BridgeError, 'code' | 'status' | 'message' | 'cause'> {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof BridgeError, String(error));
    return error;
  }
  return assert.fail('nothing was refused');
}

const statuses = (azure: SimulatedAzure) => azure.events().map(({ EventStatus }) => EventStatus);

test('an event is scheduled, read and approved by a client, and ends ten simulated minutes later', async (t) => {
  const azure = await start(t);
  const { EventId, Resources } = azure.schedule({ EventType: 'Reboot', EventSource: 'User' });
  const { Events } = await read(azure.url);
  assert.deepEqual(
    [Resources, Events.map((event) => [event.EventId, event.EventType, event.EventStatus])],
    [['sim_0'], [[EventId, 'Reboot', 'Scheduled']]],
  );
  assert.equal(await approve(azure.url, EventId), 200);
  assert.deepEqual([azure.approvals(), statuses(azure)], [[EventId], ['Started']]);
  azure.advance('10m');
  assert.deepEqual([azure.events(), (await read(azure.url)).Events], [[], []]);
  assert.deepEqual(
    azure.state().past.map((event) => [event.EventId, event.end]),
    [[EventId, 'completed']],
  );
});

test('an event starts by itself when the clock is put past its notice, and not before', async (t) => {
  const azure = await start(t);
  azure.schedule({ EventType: 'Preempt', notice: '30s' });
  azure.advance('29s');
  assert.deepEqual(statuses(azure), ['Scheduled']);
  azure.advance('2s');
  assert.deepEqual(statuses(azure), ['Started']);
});

test('a test moves events on itself: change, start, end, cancel', async (t) => {
  const azure = await start(t);
  const { EventId: one } = azure.schedule();
  const { EventId: other } = azure.schedule();
  assert.equal(azure.change(one, { DurationInSeconds: 9 }).DurationInSeconds, 9);
  assert.equal(azure.start(one).EventStatus, 'Started');
  assert.equal(azure.end(one).EventId, one);
  assert.equal(azure.cancel(other).EventId, other);
  assert.deepEqual(
    azure.state().past.map(({ EventId, end }) => [EventId, end]),
    [
      [one, 'completed'],
      [other, 'canceled'],
    ],
  );
});

test('NotBefore may be a Date', async (t) => {
  const azure = await start(t);
  const notBefore = new Date(Math.ceil(azure.now().getTime() / 1000) * 1000 + 60_000);
  assert.equal(azure.schedule({ NotBefore: notBefore }).NotBefore, notBefore.toUTCString());
});

test('an order with bad fields throws the faults with their paths and changes nothing', async (t) => {
  const azure = await start(t);
  const bad = { Resources: ['a', 7], notice: 'soon', Ressources: [] } as unknown as EventOrder;
  const { code, status, message, cause } = refusal(() => azure.schedule(bad));
  assert.deepEqual([code, status], ['BRIDGE_SIMULATOR_REFUSED', 400]);
  const { faults } = cause as { faults: readonly { path: string }[] };
  assert.deepEqual(faults.map(({ path }) => path).sort(), ['Resources[1]', 'Ressources', 'notice']);
  for (const { path } of faults) assert.ok(message.includes(path), message);
  assert.deepEqual([azure.events(), azure.state().incarnation], [[], 1]);
});

test('an unknown event is refused with 404, an impossible move with 409', async (t) => {
  const azure = await start(t);
  const { EventId } = azure.schedule();
  assert.deepEqual([refusal(() => azure.start('nobody')).status, refusal(() => azure.end(EventId)).status], [404, 409]);
  azure.cancel(EventId);
  assert.equal(refusal(() => azure.start(EventId)).status, 409);
  assert.equal(refusal(() => azure.schedule({ EventId: EventId.toLowerCase() })).status, 409);
});

test('bad durations, speeds and faults are refused', async (t) => {
  const azure = await start(t);
  for (const order of [
    () => azure.advance('an hour'),
    () => azure.setSpeed(-1),
    () => azure.setSpeed(Number.NaN),
    () => azure.fault({ status: 99 }),
    () => azure.fault({ status: 503, vm: 'nobody' }),
  ])
    assert.equal(refusal(order).status, 400);
});

test('the clock stands still until it is moved, unless a speed is given', async (t) => {
  const azure = await start(t);
  const before = azure.now();
  await read(azure.url);
  assert.deepEqual([azure.now(), azure.state().speed], [before, 0]);
  azure.advance('1h');
  assert.equal(azure.now().getTime() - before.getTime(), 3_600_000);
  assert.equal((await start(t, { speed: 60 })).state().speed, 60);
});

test('a list of faults is played one after the other', async (t) => {
  const azure = await start(t);
  azure.fault([
    { status: 500, path: '/metadata/scheduledevents' },
    { times: 1 },
    { status: 404, apiVersion: '2020-07-01' },
  ]);
  const ask = async () => (await fetch(azure.url + EVENTS, { headers: { Metadata: 'true' } })).status;
  assert.deepEqual([await ask(), await ask(), await ask(), await ask()], [500, 200, 404, 200]);
});

test('faults spoil the next answers, as ordered, and can be cleared', async (t) => {
  const azure = await start(t);
  const { EventId } = azure.schedule();
  azure.fault({ status: 503, times: 2, headers: { 'Retry-After': 5 } });
  const answers = [await fetch(azure.url + EVENTS), await fetch(azure.url + EVENTS)];
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers.get('retry-after')]),
    [
      [503, '5'],
      [503, '5'],
    ],
  );
  await read(azure.url);
  azure.fault({ body: '<html>', method: 'GET' });
  azure.clearFaults();
  await read(azure.url);
  azure.fault({ status: 500, method: 'POST' });
  assert.equal(await approve(azure.url, EventId), 500);
  assert.deepEqual([statuses(azure), azure.approvals()], [['Scheduled'], []]);
});

test('approvals are those that were answered 200, in order, with repetitions', async (t) => {
  const azure = await start(t);
  const ids = ['A', 'B'].map((EventId) => azure.schedule({ EventId }).EventId);
  await approve(azure.url, ...ids);
  await approve(azure.url, 'nobody');
  await approve(azure.url, 'a');
  azure.fault({ status: 200 });
  await fetch(azure.url + EVENTS, { method: 'POST', body: 'no JSON' });
  assert.deepEqual(azure.approvals(), ['A', 'B', 'a']);
  assert.deepEqual(
    azure.requests().map(({ method, status }) => [method, status]),
    [
      ['POST', 200],
      ['POST', 400],
      ['POST', 200],
      ['POST', 200],
    ],
  );
});

test('a scenario is played by its name, from the start or later, and replaces the one before', async (t) => {
  const azure = await start(t, { scenario: 'user-reboot' });
  assert.deepEqual([azure.state().scenario?.name, azure.events()[0]?.EventType], ['user-reboot', 'Reboot']);
  await azure.play('spot-eviction');
  assert.deepEqual(
    [azure.state().scenario?.name, azure.events().map(({ EventType }) => EventType)],
    ['spot-eviction', ['Preempt']],
  );
});

test('a scenario is played from a file, and a faulty file is rejected with its faults', async (t) => {
  const azure = await start(t);
  const file = join(folderOf(t), 'mine.yaml');
  writeFileSync(file, 'purpose: mine\nsteps:\n  - after: 0s\n    schedule: { EventType: Terminate }\n');
  await azure.play(file);
  assert.deepEqual([azure.state().scenario?.name, azure.events()[0]?.EventType], ['mine', 'Terminate']);
  writeFileSync(file, 'purpose: mine\nsteps:\n  - after: soon\n    schedule: {}\n');
  await assert.rejects(azure.play(file), { code: 'BRIDGE_SIMULATOR_SCENARIO', message: /steps\[0\]\.after/ });
  await assert.rejects(azure.play('spot-evicton'), { code: 'BRIDGE_USAGE', message: /spot-eviction/ });
});

test('until returns the result of its function, at once if there is one already', async (t) => {
  const azure = await start(t);
  azure.schedule({ EventId: 'A' });
  assert.equal((await azure.until(() => azure.events()[0])).EventId, 'A');
});

test('until resolves when a client has asked, when the test has ordered, and when the clock has brought it', async (t) => {
  const azure = await start(t);
  const asked = azure.until(() => azure.requests().some(({ method }) => method === 'GET'));
  await Promise.all([asked, read(azure.url)]);
  const listed = azure.until(() => azure.events().length === 1);
  azure.schedule({ notice: '10s' });
  await listed;
  const started = azure.until(() => statuses(azure).includes('Started'));
  azure.setSpeed(1000);
  await started;
});

test('until resolves for an order that came by HTTP', async (t) => {
  const azure = await start(t);
  const listed = azure.until(() => azure.events()[0]?.EventType);
  await fetch(`${azure.url}/simulator/events`, { method: 'POST', body: '{"EventType":"Redeploy"}' });
  assert.equal(await listed, 'Redeploy');
});

test('until rejects after its time, with the last state in the message', async (t) => {
  const azure = await start(t);
  azure.schedule({ EventId: 'A', EventType: 'Reboot' });
  await read(azure.url);
  await assert.rejects(
    azure.until(() => azure.approvals().includes('A'), { timeoutMs: 30 }),
    {
      code: 'BRIDGE_SIMULATOR_TIMEOUT',
      message: /30 ms.*Reboot A Scheduled.*Requests: 1, the last GET .*\(200\) of sim_0/,
    },
  );
});

test('until rejects with what its look throws', async (t) => {
  const azure = await start(t);
  const error = new Error('the look failed');
  const fail = () => {
    throw error;
  };
  await assert.rejects(azure.until(fail), (thrown) => thrown === error);
});

test('after close a look still sees what was, and an order or an until is refused', async (t) => {
  const azure = await start(t);
  const { EventId } = azure.schedule();
  await approve(azure.url, EventId);
  const waiting = assert.rejects(
    azure.until(() => false),
    { code: 'BRIDGE_SIMULATOR_CLOSED' },
  );
  await azure.close();
  await azure.close();
  await waiting;
  assert.deepEqual([azure.approvals(), statuses(azure)], [[EventId], ['Started']]);
  for (const order of [() => azure.schedule(), () => azure.advance('1s'), () => azure.reset()])
    assert.equal(refusal(order).code, 'BRIDGE_SIMULATOR_CLOSED');
  await assert.rejects(azure.play('demo'), { code: 'BRIDGE_SIMULATOR_CLOSED' });
  await assert.rejects(
    azure.until(() => true),
    { code: 'BRIDGE_SIMULATOR_CLOSED' },
  );
  await assert.rejects(fetch(azure.url));
});

test('reset leaves nothing of the test before but the clock and the ids that were given', async (t) => {
  const azure = await start(t, { scenario: 'demo' });
  const { EventId } = azure.schedule();
  await read(azure.url);
  azure.fault({ status: 503 });
  azure.advance('1h');
  const now = azure.now();
  azure.reset();
  assert.deepEqual(
    [azure.events(), azure.requests(), azure.state().scenario, azure.state().fault, azure.now()],
    [[], [], null, null, now],
  );
  assert.equal(refusal(() => azure.schedule({ EventId })).status, 409);
});

test('machines of one group see one document, each at its own address', async (t) => {
  const azure = await start(t, { vms: ['web_0', 'web_1'] });
  const [first, second] = azure.urls;
  assert.ok(first && second && first.url === azure.url && second.url !== azure.url);
  assert.deepEqual([first.vm, second.vm], ['web_0', 'web_1']);
  const { EventId } = azure.schedule({ Resources: ['web_1'] });
  assert.deepEqual(await read(first.url), await read(second.url));
  await approve(second.url, EventId);
  assert.equal((await read(first.url)).Events[0]?.EventStatus, 'Started');
  assert.deepEqual(
    azure.requests().map(({ vm }) => vm),
    ['web_0', 'web_1', 'web_1', 'web_0'],
  );
});

test('the slow beginning of a real VM costs a test no time', async (t) => {
  const azure = await start(t, { strict: true });
  azure.schedule({ notice: '1h' });
  let isAnswered = false;
  const first = read(azure.url).finally(() => {
    isAnswered = true;
  });
  await azure.until(() => azure.requests().length === 1);
  azure.advance('119s');
  assert.deepEqual([isAnswered, azure.state().service.state], [false, 'enabling']);
  azure.advance('1s');
  assert.deepEqual((await first).Events, []);
  azure.advance('3m');
  assert.equal((await read(azure.url)).Events.length, 1);
});

test('a client that measures notice by its own clock has its truth after the clock was put forward', async (t) => {
  const azure = await start(t, { notBefore: 'wall' });
  azure.advance('1h');
  const beforeMs = Date.now();
  azure.schedule({ EventType: 'Terminate' });
  const [event] = (await read(azure.url)).Events;
  const noticeMs = Date.parse(event?.NotBefore ?? '') - beforeMs;
  assert.ok(noticeMs >= 300_000 && noticeMs < 600_000, String(noticeMs));
  azure.advance('301s');
  assert.equal(azure.events()[0]?.EventStatus, 'Started');
  assert.equal(azure.state().notBefore, 'wall');
});

test('several simulators in one process are independent', async (t) => {
  const [one, other] = [await start(t), await start(t, { strict: true, gpu: true, name: 'gpu', vms: 2 })];
  one.schedule({ EventId: 'A' });
  one.advance('1h');
  await read(one.url);
  assert.deepEqual([other.events(), other.requests()], [[], []]);
  assert.ok(one.now().getTime() - other.now().getTime() >= 3_500_000);
  assert.deepEqual(
    [other.state().strict, other.state().gpu, other.urls.map(({ vm }) => vm)],
    [true, true, ['gpu_0', 'gpu_1']],
  );
  assert.equal(other.schedule({ EventId: 'A' }).EventId, 'A');
  await one.close();
  assert.equal((await fetch(`${other.url}/simulator`)).status, 200);
});

test('await using closes it and frees the port', async (t) => {
  const port = await (async () => {
    await using azure = await startSimulator();
    return Number(new URL(azure.url).port);
  })();
  const azure = await start(t, { port });
  assert.equal(new URL(azure.url).port, String(port));
  await assert.rejects(startSimulator({ port }), { code: 'BRIDGE_SIMULATOR_LISTEN' });
});

for (const [what, options, code, message] of [
  ['a misspelt option', { vm: 2 }, 'BRIDGE_USAGE', /vm: .*vms/],
  ['no machine', { vms: 0 }, 'BRIDGE_USAGE', /vms/],
  ['half a machine', { vms: 1.5 }, 'BRIDGE_USAGE', /vms/],
  ['an empty list of machines', { vms: [] }, 'BRIDGE_USAGE', /at least one/],
  ['two machines of one name', { vms: ['a', 'A'] }, 'BRIDGE_USAGE', /needs a unique name/],
  ['an unknown clock', { notBefore: 'real' }, 'BRIDGE_USAGE', /notBefore: must be simulated or wall/],
  ['no port', { port: 65_536 }, 'BRIDGE_USAGE', /port/],
  ['an unknown scenario', { scenario: 'lunch' }, 'BRIDGE_USAGE', /lunch/],
  ['a negative speed', { speed: -1 }, 'BRIDGE_SIMULATOR_REFUSED', /speed/],
] as const) {
  test(`${what} is refused at the start`, async () => {
    await assert.rejects(startSimulator(options as StartOptions), { name: 'BridgeError', code, message });
  });
}

test('options that are undefined are as if they were absent', async (t) => {
  const azure = await start(t, { vms: undefined, scenario: undefined, port: undefined } as unknown as StartOptions);
  assert.equal(azure.urls.length, 1);
});

test('the types name every field of an event and of a fault that the control routes take, and no other', async (t) => {
  const azure = await start(t);
  const event: Required<EventOrder> = {
    EventId: 'A',
    EventType: 'Freeze',
    ResourceType: 'VirtualMachine',
    Resources: [],
    EventStatus: 'Scheduled',
    NotBefore: '',
    Description: '',
    EventSource: '',
    DurationInSeconds: 0,
    seen: [],
    notice: '1s',
    startedFor: '1s',
    otherTenants: '1s',
  };
  const fault: Required<FaultOrder> = {
    status: 503,
    body: {},
    headers: { a: 1 },
    delay: '1s',
    reset: true,
    truncate: 1,
    stale: true,
    times: 1,
    for: '1s',
    vm: 'a',
    method: 'GET',
    path: '/metadata/instance',
    apiVersion: ['2024-07-09'],
  };
  const { NotBefore, notice, ...either } = event;
  azure.schedule({ ...either, NotBefore });
  azure.schedule({ ...either, EventId: 'B', notice });
  azure.fault({ ...fault, vm: 'sim_0' });
  const eventSchema = v.strictObject(eventEntries(v.string()));
  const [faultSchema] = faultOrder(v.string()).pipe;
  assert.deepEqual(Object.keys(event).sort(), Object.keys(eventSchema.entries).sort());
  assert.deepEqual(Object.keys(fault).sort(), Object.keys(faultSchema.entries).sort());
});
