// docs/operate/service-bus.md → its consumers and its filter run; its table of answers compared.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectionFault, type FaultPlace, serviceBusFault } from '../../adapters/service-bus/service-bus-fault.ts';
import { type BridgeError, ERROR_CODES } from '../../src/errors.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import { sampleDelivery } from '../adapters/sample-deliveries.ts';
import { createServiceBus } from '../adapters/service-bus/start-service-bus.ts';
import { sdkClient } from '../far-sides/service-bus/sdk-client.ts';
import { serviceBusServer } from '../far-sides/service-bus/service-bus-server.ts';
import { poll } from '../support/poll.ts';
import { start } from '../support/program.ts';
import { tableBelow } from './markdown-page.ts';
import { writeProgram } from './page-program.ts';

const PAGE = 'docs/operate/service-bus.md';
const page = readFileSync(join(import.meta.dirname, '../..', PAGE), 'utf8');
const never = new AbortController().signal;

const hasPythonSdk = spawnSync('python3', ['-c', 'import azure.servicebus, azure.identity']).status === 0;
const noSdk = !hasPythonSdk && 'python3 has no azure-servicebus and azure-identity';
const NODE = { page: PAGE, language: 'js', file: 'consumer.mjs' };
const PYTHON = { page: PAGE, language: 'python', file: 'consumer.py' };

/** A notice, as the page's filter wants it. */
function notice(seq: number): Delivery {
  const { bytes, ...delivery } = sampleDelivery({ seq });
  return { ...delivery, bytes: Buffer.from(Buffer.from(bytes).toString().replace('.updated.v1', '.scheduled.v1')) };
}

for (const { name, command, skip, consumer } of [
  { name: 'the consumer in Node', command: process.execPath, skip: false, consumer: NODE },
  { name: 'the consumer in Python', command: 'python3', skip: noSdk, consumer: PYTHON },
] as const) {
  test(`${name} reads binary and structured messages once each, completes them, and dead-letters a message that is not a CloudEvent`, {
    skip,
  }, async (t) => {
    const server = await serviceBusServer(t);
    const subscription = server.topic('maintenance').subscription('prepare').filter({ sql: filterOfThePage() });
    const env = { SERVICEBUS_CONNECTION_STRING: server.connectionString, PYTHONUNBUFFERED: '1' };
    const program = start(t, [], { node: command, main: writeProgram(t, consumer), env });
    await program.lines(1);
    const sinkWith = (more: Readonly<Record<string, unknown>>) =>
      createServiceBus(server, { options: { topic: 'maintenance', ...more } }).adapter;
    const binary = sinkWith({});
    const [first, second, third] = [notice(1), notice(2), notice(3)];
    for (const [adapter, delivery] of [
      [binary, first],
      [binary, first],
      [binary, sampleDelivery({ seq: 9 })],
      [sinkWith({ mode: 'structured', attributePrefix: 'colon' }), second],
      [binary, third],
    ] as const)
      assert.deepEqual(await adapter.deliver([delivery], never), ['accepted']);
    const foreign = { cloudEvents_type: 'io.github.scheduled-events-bridge.scheduled.v1' };
    await sdkClient(server)
      .createSender('maintenance')
      .sendMessages({ body: { text: 'hello' }, messageId: 'foreign', applicationProperties: foreign });

    await poll(() => subscription.deadLetters().length === 1, 'what is no CloudEvent');
    await poll(() => subscription.messages().length === 0, 'the messages to be completed');
    assert.equal(subscription.deadLetters()[0]?.deadLetter?.reason, 'no CloudEvent');
    const said = (await program.lines(3)).slice(1).map((line) => line.split(' '));
    // A structured message has no application properties, so the filter of the page keeps it out.
    const type = 'io.github.scheduled-events-bridge.scheduled.v1';
    assert.deepEqual(said, [
      [first.id, type, 'WestNO_0'],
      [third.id, type, 'WestNO_0'],
    ]);
    subscription.filter('all');
    assert.deepEqual(await sinkWith({ mode: 'structured' }).deliver([second], never), ['accepted']);
    assert.deepEqual(await sinkWith({ attributePrefix: 'colon' }).deliver([notice(4)], never), ['accepted']);
    const ids = (await program.lines(5)).slice(3).map((line) => line.split(' ')[0]);
    assert.deepEqual(ids, [second.id, notice(4).id]);
    await poll(() => subscription.messages().length === 0, 'these to be completed');
    assert.deepEqual(server.protocolErrors, []);
  });
}

test('the consumer in Python compiles', { skip: spawnSync('python3', ['--version']).status !== 0 && 'there is no python3' }, (t) => {
  const file = writeProgram(t, PYTHON);
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
  if (retryAfterMs !== undefined) return `pauses the sink, for the time that Service Bus names or ${retryAfterMs / 1000} s`;
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
