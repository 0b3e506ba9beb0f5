// Every shipped scenario → bridges and webhooks tell each event from first moment to end.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { suite, type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { ADAPTERS } from '../../../adapters/index.ts';
import type { Bridge } from '../../../src/bridge/bridge-options.ts';
import { startBridge } from '../../../src/bridge.ts';
import { checkConfig, configError } from '../../../src/config/check-config.ts';
import type { Group } from '../../../src/simulator/group.ts';
import type { Script, ScriptStep } from '../../../src/simulator/script/script.ts';
import { startSimulator } from '../../../src/simulator/server.ts';
import { shippedScenarios } from '../../../src/simulator/shipped-scenarios.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { hook, TOKEN } from '../../support/running-bridge.ts';
import type { CloudEvent } from '../../virtual/memory-sinks.ts';

/** Enough to tell one's own from others'; scenarios that ask for more machines play on these too. */
const MOST_VMS = 2;
/** A busy month has hundreds of moments, all of a kind. */
const MOST_MOMENTS = 40;
/** After some bad answers a bridge polls no more than every 10 s, and a storm takes its time. */
const PATIENCE_MS = 60_000;
/** A late answer is late in real time. */
const LONGEST_DELAY_MS = 200;

const scenarios = (await shippedScenarios()).map((script) => ({ ...script, steps: script.steps.map(quicker) }));

suite('each scenario through bridges with webhooks', { concurrency: 4 }, () => {
  for (const script of scenarios) {
    test(`${script.name}, left alone: every event ends legally`, (t) => play(t, script, false));
    test(`${script.name}, approved by the subscriber: every event ends legally`, (t) => play(t, script, true));
  }
});

function quicker(step: ScriptStep): ScriptStep {
  const { action } = step;
  if (action.kind !== 'fault') return step;
  const orders = action.orders.map((order) =>
    order.delayMs === undefined ? order : { ...order, delayMs: Math.min(order.delayMs, LONGEST_DELAY_MS) },
  );
  return { ...step, action: { ...action, orders } };
}

async function play(t: TestContext, script: Script, approves: boolean): Promise<void> {
  const vms = Math.min(MOST_VMS, script.group?.vms ?? 1);
  const deps = systemDeps();
  const server = await startSimulator({
    listen: { host: '127.0.0.1', port: 0 },
    vms,
    gpu: script.group?.gpu ?? false,
    speed: 0,
    deps,
  });
  t.after(() => server[Symbol.asyncDispose]());
  const watchers = await Promise.all(server.urls.map(({ vm, url }) => watch(t, vm, url, approves)));
  await polled(server.group, watchers);
  server.group.play(script);
  const owed = new Set<string>();
  for (let moments = 0; moments < MOST_MOMENTS; moments++) {
    await polled(server.group, watchers);
    for (const eventId of listedWell(server.group)) owed.add(eventId);
    if (!toNextMoment(server.group)) break;
  }
  server.group.player.stop();
  server.group.faults.order([], server.group.clock.nowMs());
  while (toNextMoment(server.group)) await polled(server.group, watchers);
  assert.ok(owed.size > 0);
  const told = () => watchers.flatMap(({ receiver }) => livesOf(receiver));
  const areAllTold = () => {
    const ids = new Set(told().map(({ eventId }) => eventId));
    return [...owed].every((eventId) => ids.has(eventId));
  };
  await poll(areAllTold, 'a word of each event that was there to be read', PATIENCE_MS);
  await poll(() => told().every(hasEnded), 'the last of each event', PATIENCE_MS);
  for (const { eventId, changes } of told())
    assert.match(changes.join(' '), goesBack(script) ? LEGAL_AFTER_STALE : LEGAL, eventId);
}

/** What was there to be read for whoever asked in the last moment. */
function listedWell({ events, faults, activation, clock, machines }: Group): readonly string[] {
  if (activation.state !== 'on') return [];
  const order = faults.active(clock.nowMs());
  const readers = machines.filter(({ name }) => !order || (order.vm !== undefined && order.vm !== name));
  return readers.flatMap(({ name }) => events.view.listed(name)).map(({ EventId }) => EventId.toLowerCase());
}

/** Scheduled or not, started or not, ended; and as often as they like, something of it changed. */
const LEGAL = /^(scheduled( updated)*( started( updated)*)?|started( updated)*) ended$/;

/** A stale document takes a start back, which is an update, and the next one tells it again. */
const LEGAL_AFTER_STALE =
  /^(scheduled( updated)*( started( updated)*)*|(started( updated)*)( started( updated)*)*) ended$/;

function goesBack({ steps }: Script): boolean {
  return steps.some(({ action }) => action.kind === 'fault' && action.orders.some(({ stale }) => stale));
}

interface Watcher {
  readonly vm: string;
  readonly bridge: Bridge;
  readonly receiver: WebhookReceiver;
}

/** A bridge of the machine's own, and who receives from it. */
async function watch(t: TestContext, vm: string, endpoint: string, approves: boolean): Promise<Watcher> {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const folder = folderOf(t);
  const checked = checkConfig(
    {
      version: 1,
      metadata: { endpoint, pollInterval: '50ms', settle: '1s', apiVersion: '2024-07-09' },
      store: { path: join(folder, 'store') },
      http: { listen: '127.0.0.1:0' },
      approvals: { approvers: { orders: { token: { env: 'TOKEN' } } } },
      sinks: { hooks: hook(receiver.url) },
    },
    { adapters: ADAPTERS, env: { TOKEN }, directory: folder, readFile: () => '' },
  );
  if ('faults' in checked) throw configError(checked.faults);
  const bridge = await startBridge({
    config: checked.options,
    version: '0.0.0',
    deps: systemDeps(),
    logger: pino({ level: 'silent' }),
    logLinesDropped: () => 0,
    stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
    store: { synchronous: 'OFF' },
  });
  t.after(() => bridge[Symbol.asyncDispose]());
  if (approves) {
    receiver.default = (response, _socket, request) => {
      response.writeHead(204).end();
      const event = eventOf(request.body);
      if (event.type.endsWith('.scheduled.v1')) approve(bridge, event.data.eventId);
    };
  }
  return { vm, bridge, receiver };
}

/** Whatever is answered: it may have started by then, or be only a recommendation. */
function approve(bridge: Bridge, eventId: string): void {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ StartRequests: [{ EventId: eventId }] });
  fetch(`${bridge.url}/v1/approvals`, { method: 'POST', headers, body }).catch(() => {});
}

/** Resolves when each machine's bridge has read what is there now, or waits for it while the service comes back. */
async function polled(group: Group, watchers: readonly Watcher[]): Promise<void> {
  for (const { vm } of watchers) {
    const from = reads(group, vm);
    await poll(() => reads(group, vm) > from || group.activation.state === 'enabling', `a poll of ${vm}`, PATIENCE_MS);
  }
}

function reads(group: Group, vm: string): number {
  return group.journal
    .requests()
    .filter((one) => one.vm === vm && one.method === 'GET' && one.path.includes('scheduledevents')).length;
}

/** False where nothing is to come. */
function toNextMoment(group: Group): boolean {
  const dueMs = group.nextDueMs();
  if (dueMs === null) return false;
  group.clock.advance(Math.max(0, dueMs - group.clock.nowMs()));
  group.catchUp();
  return true;
}

interface Life {
  readonly eventId: string;
  /** Of this event, in the order in which they came. */
  readonly changes: readonly string[];
}

function livesOf(receiver: WebhookReceiver): readonly Life[] {
  const changes = new Map<string, string[]>();
  for (const { body } of receiver.requests) {
    const { type, data } = eventOf(body);
    const change = type.split('.').slice(3, -1).join('.');
    if (change.startsWith('approval') || change.startsWith('source')) continue;
    const eventId = data.eventId.toLowerCase();
    changes.set(eventId, [...(changes.get(eventId) ?? []), change]);
  }
  return [...changes].map(([eventId, all]) => ({ eventId, changes: all }));
}

function hasEnded({ changes }: Life): boolean {
  return changes.at(-1) === 'ended';
}

/** Looked at again and again while a storm comes in, and so parsed once. */
const parsed = new WeakMap<Buffer, CloudEvent>();

function eventOf(body: Buffer): CloudEvent {
  const event = parsed.get(body) ?? (JSON.parse(body.toString()) as CloudEvent);
  parsed.set(body, event);
  return event;
}
