// The package, installed without dependencies → its consumer library runs there, types strict.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Project, packedPaths, ROOT } from './installed-package.ts';

/** A chunk and all that it imports, as paths in dist/. */
function chunksOf(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const text = readFileSync(join(ROOT, 'dist', name), 'utf8');
  for (const [, target = ''] of text.matchAll(/(?:\bfrom|\bimport) ?"\.\/([^"]+)"/g)) chunksOf(target, found);
  return found;
}

test('the library holds no other package, imports Node alone, and is below 75 KB', () => {
  const names = [...chunksOf('consumer.js')];
  const sources = names.flatMap(
    (name) => JSON.parse(readFileSync(join(ROOT, 'dist', `${name}.map`), 'utf8')).sources as string[],
  );
  assert.deepEqual(
    sources.filter((source) => source.includes('node_modules')),
    [],
  );
  assert.ok(sources.some((source) => source.endsWith('consumer/receive/receiver.ts')));
  const texts = names.map((name) => readFileSync(join(ROOT, 'dist', name), 'utf8'));
  const outside = texts.flatMap((text) =>
    [...text.matchAll(/^(?:import|export) .*?from ["']([^."'][^"']*)["']/gm)].map(([, target]) => target),
  );
  assert.deepEqual(
    outside.filter((target) => !target?.startsWith('node:')),
    [],
  );
  assert.ok(texts.join('').length < 75_000);
});

test('its types come along, and only what they need', () => {
  for (const path of ['dist/consumer.js', 'dist/types/consumer.d.ts', 'docs/receive/consumer.md'])
    assert.ok(packedPaths.includes(path), path);
  const needed =
    /^dist\/types\/(consumer|simulator|schema)\b|^dist\/types\/(errors|simulator|consumer|model\/(events|approvals|change-names|vm-metadata))\.d\.ts$/;
  assert.deepEqual(
    packedPaths.filter((path) => path.startsWith('dist/types/') && !needed.test(path)),
    [],
  );
});

const USE = `
import {
  type ChangeData, type CloudEvent, ConsumerError, createApprover, createDispatcher, createReceiver, type EventOf, fileState, type HandledStore,
  http, isChange, kafka, parseKafkaMessage, parseServiceBusMessage, preparation, serviceBus, toNodeHandler,
} from 'scheduled-events-bridge/consumer';

const store: HandledStore = { claim: async () => 'claimed', complete: async () => {}, abandon: async () => {} };
const receiver = createReceiver({
  secrets: ['whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='],
  store,
  handlers: {
    onUpdated: ({ data }) => data.changedFields.map((field) => data[field]),
    onEnded: async ({ data }, { signal }) => (signal.aborted ? data.outcome satisfies 'completed' | 'canceled' | 'unknown' : null),
    onApprovalFailed: ({ data }) => data.reason,
    onSourceBlind: ({ data }) => data.since,
    onOther: (event: CloudEvent) => event.data,
  },
});
const prepared = preparation({ prepare: ({ data }) => data.notBefore, recover: (event, outcome) => outcome === 'canceled', state: fileState('x') });
const dispatcher = createDispatcher({ ...prepared, onScheduled: ({ data }) => data.eventType });
const shared = createReceiver({ unsigned: true, dispatcher });
const event = parseKafkaMessage({ value: null });
if (isChange(event, 'scheduled')) {
  const scheduled: EventOf<'scheduled'> = event;
  const data: ChangeData = scheduled.data;
  const result = await createApprover(http({ url: 'https://bridge.example.com', token: 'x' })).approve(event);
  const state: 'sent' | string = result.state;
  console.log(data.resources.length, state);
}
const producer = { send: async (record: { topic: string; messages: { key: string; value: string }[] }) => [record.topic] };
const sender = { sendMessages: async (messages: { body: any } | { body: any }[]) => {} };
await createApprover(kafka(producer, { topic: 'a' })).hold(event, 'why');
await createApprover(serviceBus(sender, { sessions: true })).release('ID');
parseServiceBusMessage({ body: {}, contentType: 'application/json' });
export const all = [shared, toNodeHandler(receiver), new ConsumerError('refused', 'x', { type: 'changed' }).type];
`;
const MISUSES = [
  'createReceiver({});',
  'createReceiver({ secrets: [], handlers: {}, dispatcher });',
  "createReceiver({ secret: 'x', handlers: {} });",
  'createReceiver({ unsigned: true, handlers: { onSchedule: () => {} } });',
  'createReceiver({ unsigned: true, handlers: { onScheduled: ({ data }) => data.EventId } });',
  'createReceiver({ unsigned: true, handlers: { onScheduled: ({ data }) => data.changedFields.length } });',
  "createDispatcher({ onEnded: ({ data }) => data.outcome === 'cancelled' });",
  'preparation({ prepare: () => {} });',
  "http({ url: 'x' });",
  'parseKafkaMessage({ value: 1 });',
  'await createApprover(kafka(producer)).approve(event);',
  "await createApprover(kafka(producer, { topic: 'a' })).hold(event);",
  "new ConsumerError('oops', 'x');",
];
const CONSOLE = 'declare var console: { log(...words: unknown[]): void };';

for (const moduleResolution of ['nodenext', 'bundler'] as const) {
  test(`a user's TypeScript finds the types by ${moduleResolution}, without @types/node or the DOM, and is told of each misuse`, async (t) => {
    const project = await Project.withPackage(t);
    project.write('use.ts', [CONSOLE, USE, ...MISUSES.flatMap((misuse) => ['// @ts-expect-error', misuse])].join('\n'));
    assert.deepEqual(await project.types('use.ts', moduleResolution), {
      code: 0,
      signal: null,
      stdout: '',
      stderr: '',
    });
  });
}

const IN_FRAMEWORKS = `
import { createServer } from 'node:http';
import { Kafka } from 'kafkajs';
import { ServiceBusClient } from '@azure/service-bus';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import {
  createApprover, createDispatcher, createReceiver, kafka, parseKafkaMessage, parseServiceBusMessage, serviceBus, toNodeHandler,
} from 'scheduled-events-bridge/consumer';

const receiver = createReceiver({ unsigned: true, handlers: { onScheduled: (_, { signal }) => fetch('https://example.com', { signal }) } });
const answer: Response = await receiver(new Request('http://example.com'));
createServer(toNodeHandler(receiver));
express().all('/hook', toNodeHandler(receiver));
new Hono().all('/hook', (c) => receiver(c.req.raw));
Fastify().all('/hook', (request, reply) => { reply.hijack(); toNodeHandler(receiver)(request.raw, reply.raw); });
const dispatcher = createDispatcher({});
const client = new Kafka({ brokers: [] });
await client.consumer({ groupId: 'x' }).run({ eachMessage: async ({ message }) => void (await dispatcher.handle(parseKafkaMessage(message))) });
await createApprover(kafka(client.producer(), { topic: 'x' })).approve('ID', { signal: AbortSignal.timeout(1000) });
const bus = new ServiceBusClient('x');
for (const message of await bus.createReceiver('q').receiveMessages(1)) await dispatcher.handle(parseServiceBusMessage(message));
await createApprover(serviceBus(bus.createSender('q'))).approve('ID');
// @ts-expect-error: where Request is known, nothing else will do
await receiver({});
export const status = answer.status;
`;

test('with the types of Node, it fits what Hono, Fastify, Express, kafkajs and the SDK of Service Bus take and give', async (t) => {
  const project = await Project.withPackage(t);
  project.link('@types/node', '@types/express', 'hono', 'fastify', 'express', 'kafkajs', '@azure/service-bus');
  project.write('use.ts', IN_FRAMEWORKS);
  const { code, stdout } = await project.types('use.ts', 'nodenext', { types: ['node'], skipLibCheck: true });
  assert.equal(code, 0, stdout);
});

const SESSION = `
const seen = [];
const receiver = createReceiver({ unsigned: true, handlers: { onOther: ({ id }) => seen.push(id) } });
const event = { specversion: '1.0', id: '1', source: '/s', type: 't' };
const post = () => receiver(new Request('http://x/', {
  method: 'POST', body: JSON.stringify(event), headers: { 'content-type': 'application/cloudevents+json' },
}));
const statuses = [(await post()).status, (await post()).status];
console.log(statuses.join(), seen.join());
`;

test("a user's module, or CommonJS, runs without the dependencies, and its process ends by itself", async (t) => {
  const project = await Project.withPackage(t);
  const expected = { code: 0, signal: null, stdout: '204,204 1\n', stderr: '' };
  project.write('use.js', `import { createReceiver } from 'scheduled-events-bridge/consumer';\n${SESSION}`);
  assert.deepEqual(await project.node('use.js'), expected);
  project.write(
    'use.cjs',
    `const { createReceiver } = require('scheduled-events-bridge/consumer');\n(async () => {${SESSION}})();`,
  );
  assert.deepEqual(await project.node('use.cjs'), expected);
});
