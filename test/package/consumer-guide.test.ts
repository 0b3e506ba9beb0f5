// docs/receive/consumer.md → its code blocks, run in a project that has the package installed.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { encodeRecord } from '../../adapters/kafka/sink/record-encoder.ts';
import { busMessageEncoder } from '../../adapters/service-bus/sink/message-encoder.ts';
import { createDispatcher, type HandledStore } from '../../src/consumer.ts';
import { createWebhook } from '../adapters/webhook/start-webhook.ts';
import { codeBlocksOf } from '../docs/markdown-page.ts';
import { Program } from '../support/program.ts';
import { deliveryOf, lifeOf, SECRET } from '../unit/consumer/deliveries.ts';
import { VirtualTime } from '../virtual/virtual-time.ts';
import { Project } from './installed-package.ts';

const blocks = codeBlocksOf('docs/receive/consumer.md').map(({ language, text }) => ({
  language,
  text,
  file: /^\/\/ ([\w-]+\.js)\n/.exec(text)?.[1] ?? '',
}));
/** Old news is not prepared for. */
const notBefore = new Date(Date.now() + 900_000).toISOString();
const life = lifeOf({ eventType: 'Reboot', notBefore });
const never = new AbortController().signal;
const TOKEN = 'correct-horse-battery-staple';

async function projectOf(t: TestContext): Promise<Project> {
  const project = await Project.withPackage(t);
  for (const { file, text } of blocks) project.write(file, text);
  return project;
}

/** Runs a file of the page until the test ends. */
function run(t: TestContext, project: Project, file: string, env: Readonly<Record<string, string>>): Program {
  const program = new Program([], { main: join(project.folder, file), cwd: project.folder, env });
  t.after(() => program.end('SIGKILL'));
  return program;
}

/** A server of the page: its port, and the lines that it prints afterwards. */
async function served(t: TestContext, project: Project, file: string, env: Readonly<Record<string, string>> = {}) {
  const program = run(t, project, file, { HOOK_SECRET: SECRET, PORT: '0', ...env });
  const [listening = ''] = await program.lines(1);
  const port = /^listening on port (\d+)$/.exec(listening)?.[1];
  assert.ok(port, `${listening}${program.stderr}`);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    lines: async (count: number) => (await program.lines(1 + count)).slice(1),
  };
}

function sinkFor(t: TestContext, url: string) {
  const options = { url, secrets: [{ env: 'S' }], handshake: true, origin: 'bridge.example.com' };
  return createWebhook(t, { options, secrets: { S: SECRET } }).adapter;
}

test('every block of the page is a file in JavaScript, and is run here', () => {
  assert.deepEqual([...new Set(blocks.map(({ language }) => language))], ['js']);
  const text = readFileSync(import.meta.filename, 'utf8');
  assert.deepEqual(
    blocks.filter(({ file }) => file === '' || !text.includes(`'${file}'`)),
    [],
  );
});

for (const [file, ...packages] of [
  ['node.js'],
  ['hono.js', 'hono', '@hono/node-server'],
  ['fastify.js', 'fastify'],
  ['express.js', 'express'],
] as const) {
  test(`the receiver ('receiver.js') works under ${file}`, async (t) => {
    const project = await projectOf(t);
    project.link(...packages);
    const { url, lines } = await served(t, project, file);
    const sink = sinkFor(t, url);
    for (const change of [life.scheduled, life.scheduled, life.started, life.ended()])
      assert.deepEqual(await sink.deliver([deliveryOf(change)], never), ['accepted']);
    assert.deepEqual(await lines(3), [
      `scheduled Reboot WestNO_0,WestNO_1 ${notBefore}`,
      'started Reboot',
      'ended completed',
    ]);
  });
}

/** A bridge that says yes to all, and what it was asked. */
async function agreeableBridge(t: TestContext) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      assert.equal(request.headers.authorization, `Bearer ${TOKEN}`);
      asked.push(`${request.method} ${request.url} ${Buffer.concat(chunks)}`);
      if (request.method === 'DELETE') return response.writeHead(204).end();
      if (request.url === '/v1/holds') return response.writeHead(201).end('{"eventId":"x","holds":[]}');
      return response.writeHead(200).end('{"results":[{"eventId":"x","state":"submitted","approvedBy":["orders"]}]}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test("'prepare.js' prepares, approves by what it saw, and recovers after a restart", async (t) => {
  const project = await projectOf(t);
  project.write('receiver.js', "export { receiver } from './prepare.js';\n");
  const { asked, url } = await agreeableBridge(t);
  const env = { BRIDGE_URL: url, ORDERS_TOKEN: TOKEN };
  const first = await served(t, project, 'node.js', env);
  const sink = (at: string) =>
    createWebhook(t, { options: { url: at, secrets: [{ env: 'S' }] }, secrets: { S: SECRET } }).adapter;
  const freeze = lifeOf({ eventId: 'other' });
  for (const change of [freeze.scheduled, life.scheduled])
    assert.deepEqual(await sink(first.url).deliver([deliveryOf(change)], never), ['accepted']);
  assert.deepEqual(await first.lines(2), ['drain WestNO_0,WestNO_1', 'submitted']);
  assert.equal(asked.length, 1);
  assert.match(asked[0] ?? '', /^POST \/v1\/approvals .*"Seen":"c7061bac-[^"]+:scheduled"/);
  const second = await served(t, project, 'node.js', env);
  for (const change of [freeze.ended(), life.ended()])
    assert.deepEqual(await sink(second.url).deliver([deliveryOf(change)], never), ['accepted']);
  assert.deepEqual(await second.lines(1), ['take up work again after completed']);
});

test("'approve.js' holds, hands over and approves", async (t) => {
  const project = await projectOf(t);
  const { asked, url } = await agreeableBridge(t);
  project.write(
    'use.js',
    "import { decide, handedOver } from './approve.js';\nawait decide('A', true);\nconsole.log((await handedOver('A')).state);\n",
  );
  const program = run(t, project, 'use.js', { BRIDGE_URL: url, ORDERS_TOKEN: TOKEN });
  assert.deepEqual(await program.lines(1), ['submitted']);
  assert.deepEqual(asked, [
    'POST /v1/holds {"EventId":"A","reason":"this is the primary, another takes over first"}',
    'DELETE /v1/holds/A ',
    'POST /v1/approvals {"StartRequests":[{"EventId":"A"}]}',
  ]);
});

test("'shared-store.js' lets one of two processes handle an event, and a claim that was left behind is free after its time", async (t) => {
  const project = await projectOf(t);
  const module = await import(pathToFileURL(join(project.folder, 'shared-store.js')).href);
  const { sharedStore } = module as { sharedStore: (db: DatabaseSync, options?: object) => HandledStore };
  const db = new DatabaseSync(':memory:');
  t.after(() => db.close());
  db.exec('CREATE TABLE handled (key TEXT PRIMARY KEY, state TEXT NOT NULL, until INTEGER NOT NULL)');
  let nowMs = 0;
  const [one, other] = [1, 2].map(() => sharedStore(db, { leaseMs: 1000, now: () => nowMs })) as [
    HandledStore,
    HandledStore,
  ];
  const event = { specversion: '1.0', id: '1', source: '/s', type: 't', data: {} } as const;
  const gate = Promise.withResolvers<void>();
  const first = createDispatcher({ onOther: () => gate.promise }, { store: one }).handle(event);
  const second = createDispatcher({}, { store: other });
  await assert.rejects(second.handle(event), { code: 'handled-elsewhere' });
  gate.resolve();
  assert.deepEqual([await first, await second.handle(event)], ['handled', 'repeat']);
  await one.claim('left');
  nowMs = 1000;
  assert.equal(await other.claim('left'), 'busy');
  nowMs = 1001;
  assert.equal(await other.claim('left'), 'claimed');
  await other.abandon('left');
  assert.equal(await one.claim('left'), 'claimed');
});

/** A package of the project's own that hands over what is given, in place of one that needs a broker. */
function standIn(project: Project, name: string, text: string): void {
  const home = `node_modules/${name}`;
  mkdirSync(join(project.folder, home), { recursive: true });
  project.write(`${home}/package.json`, '{ "type": "module", "exports": "./index.js" }');
  project.write(`${home}/index.js`, text);
}

const KAFKAJS = `
export class Kafka {
  consumer = () => ({
    connect() {},
    subscribe() {},
    async run({ eachMessage }) {
      for (const { value, headers } of JSON.parse(process.env.MESSAGES)) await eachMessage({ message: { value: Buffer.from(value), headers } });
      console.log('end');
    },
  });
}`;

test("'kafka.js' handles records of the Kafka sink, and skips a record that is not a CloudEvent", async (t) => {
  const project = await projectOf(t);
  standIn(project, 'kafkajs', KAFKAJS);
  const records = (['binary', 'structured'] as const).map((mode) =>
    encodeRecord(deliveryOf(life.scheduled), { mode, keyed: true }, 'stream'),
  );
  const messages = [{ value: '{}', headers: {} }, ...records].map(({ value, headers }) => ({
    value: String(value),
    headers,
  }));
  const program = run(t, project, 'kafka.js', { MESSAGES: JSON.stringify(messages), BROKER: 'localhost:9092' });
  const [passed, ...handled] = await program.lines(3);
  assert.match(passed ?? '', /^passed: this is not a CloudEvent/);
  assert.deepEqual(handled, ['scheduled Reboot', 'end']);
});

const SERVICE_BUS = `
export class ServiceBusClient {
  #messages = JSON.parse(process.env.MESSAGES);
  acceptNextSession = async () => ({
    receiveMessages: async () => this.#messages.splice(0, 1),
    close: () => {
      console.log('end');
      return new Promise((resolve) => setTimeout(resolve, 60_000));
    },
    completeMessage: async () => console.log('completed'),
    abandonMessage: async () => console.log('abandoned'),
    deadLetterMessage: async (_, { deadLetterReason }) => console.log('dead', deadLetterReason),
  });
}`;

test("'service-bus.js' settles messages of the Service Bus sink, and dead-letters a message that is not a CloudEvent", async (t) => {
  const project = await projectOf(t);
  standIn(project, '@azure/service-bus', SERVICE_BUS);
  const encode = busMessageEncoder(
    { mode: 'binary', sessions: true, attributePrefix: 'underscore' },
    'bus',
    new VirtualTime(),
  );
  const { body, contentType, applicationProperties } = encode(deliveryOf(life.scheduled));
  const messages = [{ body: 'hello' }, { body: JSON.parse(String(body)), contentType, applicationProperties }];
  const program = run(t, project, 'service-bus.js', { MESSAGES: JSON.stringify(messages), SERVICE_BUS: 'x' });
  assert.deepEqual(await program.lines(4), ['dead not-a-cloudevent', 'scheduled Reboot', 'completed', 'end']);
});

test("'stream.js' prints the names of an event and its position, by the stream of a bridge", async (t) => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'journal-position': '6' });
    response.write(`id: 7\nevent: scheduled\ndata: ${Buffer.from(deliveryOf(life.scheduled).bytes)}\n\n`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const program = run(t, await projectOf(t), 'stream.js', { BRIDGE: `http://127.0.0.1:${port}` });
  assert.equal((await program.lines(2)).at(-1), '7');
});
