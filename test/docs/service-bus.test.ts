// docs/operate/service-bus.md → its consumers and its filter run; its table of answers compared.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connectionFault, type FaultPlace, serviceBusFault } from '../../adapters/service-bus/service-bus-fault.ts';
import { type BridgeError, ERROR_CODES } from '../../src/errors.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import { createServiceBus } from '../adapters/service-bus/start-service-bus.ts';
import { PYTHON, withoutPython } from '../consumers/python.ts';
import { sdkClient } from '../far-sides/service-bus/sdk-client.ts';
import { serviceBusServer } from '../far-sides/service-bus/service-bus-server.ts';
import { poll } from '../support/poll.ts';
import { start } from '../support/program.ts';
import { approvalChange } from '../unit/cloudevents/changes.ts';
import { deliveryOf, lifeOf } from '../unit/consumer/deliveries.ts';
import { tableBelow } from './markdown-page.ts';
import { writeProgram } from './page-program.ts';

const PAGE = 'docs/operate/service-bus.md';
const page = readFileSync(join(import.meta.dirname, '../..', PAGE), 'utf8');
const never = new AbortController().signal;
/** Of a message that the page's filter lets through. */
const FOREIGN = { cloudEvents_dataschema: 'https://scheduled-events-bridge.github.io/schemas/change.v1.json' };

const NODE = { page: PAGE, language: 'js', file: 'consumer.mjs' };
const IN_PYTHON = { page: PAGE, language: 'python', file: 'consumer.py' };

/** The changes of one event, in order. */
function deliveriesOf(eventId: string): readonly [Delivery, Delivery, Delivery] {
  const life = lifeOf({ eventId });
  return [deliveryOf(life.scheduled), deliveryOf(life.started), deliveryOf(life.ended())];
}

/** A subscription as the page creates it. */
async function subscribed(t: TestContext) {
  const server = await serviceBusServer(t);
  const lockDuration = `${/--lock-duration PT(\d+)S/.exec(page)?.[1] ?? assert.fail('the page has no lock duration')}s`;
  assert.match(page, /--name prepare --enable-session true/);
  const subscription = server.topic('maintenance').subscription('prepare', { sessions: true, lockDuration });
  subscription.filter({ sql: filterOfThePage() });
  const sinkWith = (more: Readonly<Record<string, unknown>> = {}) =>
    createServiceBus(server, { options: { topic: 'maintenance', sessions: true, ...more } }).adapter;
  const env = { SERVICEBUS_CONNECTION_STRING: server.connectionString, PYTHONUNBUFFERED: '1' };
  return { server, subscription, sinkWith, env };
}

/** What the consumer says of these. */
function linesOf(...deliveries: readonly Delivery[]): readonly string[] {
  return deliveries.map(({ id, change }) => `${id} ${change} WestNO_0,WestNO_1`);
}

for (const { name, command, skip, consumer } of [
  { name: 'the consumer in Node', command: process.execPath, skip: false, consumer: NODE },
  { name: 'the consumer in Python', command: PYTHON, skip: withoutPython, consumer: IN_PYTHON },
] as const) {
  test(`${name} reads binary and structured messages once each, in order, completes them, and dead-letters a message that is not a CloudEvent`, {
    skip,
  }, async (t) => {
    const { server, subscription, sinkWith, env } = await subscribed(t);
    const program = start(t, [], { node: command, main: writeProgram(t, consumer), env });
    await program.lines(1);
    const binary = sinkWith();
    const [first, second, third] = deliveriesOf('one');
    const other = approvalChange({ id: 'one:approval-recorded:0123456789abcdef' });
    await sdkClient(server)
      .createSender('maintenance')
      .sendMessages({
        body: { text: 'hello' },
        sessionId: 'one',
        messageId: 'foreign',
        applicationProperties: FOREIGN,
      });
    for (const delivery of [first, first, deliveryOf(other), second, third])
      assert.deepEqual(await binary.deliver([delivery], never), ['accepted']);
    await poll(() => subscription.deadLetters().length === 1, 'what is no CloudEvent');
    await poll(() => subscription.messages().length === 0, 'the messages to be completed');
    assert.equal(subscription.deadLetters()[0]?.deadLetter?.reason, 'no CloudEvent');
    assert.deepEqual((await program.lines(4)).slice(1), linesOf(first, second, third));

    // A structured message has no application properties, so the filter of the page keeps it out.
    subscription.filter('all');
    const [structured] = deliveriesOf('two');
    const [colon] = deliveriesOf('three');
    assert.deepEqual(await sinkWith({ mode: 'structured' }).deliver([structured], never), ['accepted']);
    assert.deepEqual(await sinkWith({ attributePrefix: 'colon' }).deliver([colon], never), ['accepted']);
    assert.deepEqual((await program.lines(6)).slice(4).toSorted(), linesOf(structured, colon).toSorted());
    await poll(() => subscription.messages().length === 0, 'these to be completed');
    assert.deepEqual(server.protocolErrors, []);
  });
}

test('after kill -9 in the middle of its work, the consumer in Node gets the same message again, and then the later ones', async (t) => {
  const { subscription, sinkWith, env } = await subscribed(t);
  const main = writeProgram(t, NODE);
  const hanging = main.replace('consumer.mjs', 'hanging.mjs');
  const work = 'if (!seen.has(key)) await handle(event);';
  const text = readFileSync(main, 'utf8');
  assert.ok(text.includes(work));
  writeFileSync(hanging, text.replace(work, `${work} await setTimeout(600_000);`));
  const first = start(t, [], { node: process.execPath, main: hanging, env });
  await first.lines(1);
  const life = deliveriesOf('one');
  for (const delivery of life) assert.deepEqual(await sinkWith().deliver([delivery], never), ['accepted']);
  assert.deepEqual((await first.lines(2)).slice(1), linesOf(life[0]));
  await first.end('SIGKILL');
  const second = start(t, [], { node: process.execPath, main, env });
  assert.deepEqual((await second.lines(4)).slice(1), linesOf(...life));
  await poll(() => subscription.messages().length === 0, 'the messages to be completed');
});

test('the consumer in Python compiles', {
  skip: spawnSync('python3', ['--version']).status !== 0 && 'there is no python3',
}, (t) => {
  const file = writeProgram(t, IN_PYTHON);
  const { status, stderr } = spawnSync('python3', ['-m', 'py_compile', file], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});

test('the page says of the consumer in C# that it was not run', () => {
  assert.match(page, /^> Not run:.*\n\n```csharp$/m);
});

function filterOfThePage(): string {
  return /--filter-sql-expression "([^"]+)"/.exec(page)?.[1] ?? assert.fail('the page has no filter');
}

const PLACE: FaultPlace = { who: 'sink bus: h', entity: 'queue q', operation: 'send', role: 'r' };
/** Of a sender (ServiceBusErrorCode of the SDK, and codes of node). */
const SDK_CODES = [
  'GeneralError',
  'MessagingEntityNotFound',
  'MessagingEntityAlreadyExists',
  'MessagingEntityDisabled',
  'MessageSizeExceeded',
  'QuotaExceeded',
  'ServiceBusy',
  'ServiceCommunicationProblem',
  'ServiceTimeout',
  'UnauthorizedAccess',
];

/** What the page says of a disposition. */
function saidOf({ disposition, scope, retryAfterMs }: BridgeError): string {
  if (disposition === 'refused') return 'makes it a dead letter';
  if (disposition === 'misconfigured') return 'retries slowly, as misconfigured';
  if (retryAfterMs !== undefined)
    return `pauses the sink, for the time that Service Bus names or ${retryAfterMs / 1000} s`;
  return scope === 'sink' ? 'retries the whole sink' : 'retries';
}

function faultOf(code: string): BridgeError {
  const isOfTheSdk = SDK_CODES.includes(code);
  const error = Object.assign(new Error(code), { code, ...(isOfTheSdk && { name: 'ServiceBusError' }) });
  return isOfTheSdk ? serviceBusFault(error, PLACE) : connectionFault(error, PLACE);
}

test('the table of answers says what the sink makes of each, and leaves out none that is judged by itself', () => {
  const rows = tableBelow(PAGE, 'What an answer leads to').slice(1);
  const named = rows.flatMap(([answer = '', code = '', said = '']) =>
    [...answer.matchAll(/`([A-Z]\w+)`/g)].map(([, name = '']) => ({
      name,
      code: code.replaceAll('`', ''),
      said: said.replace(/ \|$/, ''),
    })),
  );
  for (const { name, code, said } of named) {
    const fault = faultOf(name);
    assert.deepEqual([name, fault.code, saidOf(fault)], [name, code, said]);
  }
  const judged = SDK_CODES.filter((code) => faultOf(code).code !== 'BRIDGE_SERVICE_BUS_UNAVAILABLE');
  assert.deepEqual(
    judged.filter((code) => !named.some(({ name }) => name === code)),
    [],
  );
});

test('the page has advice for every code of the sink', () => {
  const codes = ERROR_CODES.filter((code) => code.startsWith('BRIDGE_SERVICE_BUS_'));
  const told = tableBelow(PAGE, 'When it does not work')
    .map(([code]) => code)
    .join();
  assert.deepEqual(
    codes.filter((code) => !told.includes(`\`${code}\``)),
    [],
  );
});
