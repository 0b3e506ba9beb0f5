// docs/operate/kafka.md → its commands, configurations and consumer, run as they stand there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Kafka as Client, logLevel } from 'kafkajs';
import { createSink } from '../adapters/kafka/start-kafka.ts';
import { KafkaShell } from '../far-sides/kafka/kafka-shell.ts';
import { type ReadRecord, readTopic } from '../far-sides/kafka/records.ts';
import { createTopic } from '../far-sides/kafka/requests.ts';
import { unsecuredToken } from '../far-sides/kafka/security.ts';
import { type Kafka, sharedKafka, withoutKafka, withoutOurKafka } from '../far-sides/kafka/shared-kafka.ts';
import { localSimulator } from '../far-sides/simulator-server.ts';
import { poll } from '../support/poll.ts';
import { Program } from '../support/program.ts';
import { codeBlocksOf } from './markdown-page.ts';
import { writeProgram } from './page-program.ts';

const PAGE = 'docs/operate/kafka.md';
const blocks = codeBlocksOf(PAGE);

function block(heading: string, language: string, index = 0): string {
  const found = blocks.filter((candidate) => candidate.heading === heading && candidate.language === language)[index];
  return found?.text ?? assert.fail(`docs/operate/kafka.md has no block ${index} in ${language} under "${heading}"`);
}

/** One for each line that is not continued. */
function commandsIn(text: string): readonly string[] {
  return text.replaceAll('\\\n', '').trimEnd().split('\n');
}

/** The configuration that a block writes by `cat`, on a port that nobody else listens at. */
function configurationIn(text: string): string {
  const [, yaml] = /<<'YAML'\n([\s\S]*?)^YAML$/m.exec(text) ?? [];
  return `${yaml ?? assert.fail('there is no configuration')}http: { listen: 127.0.0.1:0 }\n`;
}

/** Starts the page's simulator on a port of its own. @returns its origin */
async function simulate(shell: KafkaShell): Promise<string> {
  const line = block('Try it', 'sh', 2);
  const simulator = shell.start(`exec ${line.replace('127.0.0.1:8080', '127.0.0.1:0')}`);
  const { endpoint } = JSON.parse((await simulator.lines(1))[0] ?? '') as { endpoint: string };
  const { host, origin } = new URL(endpoint);
  shell.means('127.0.0.1:8080', host);
  return origin;
}

test('docs/operate/kafka.md, "Try it": a disk, a topic, a bridge and a scenario, whose CloudEvents both readers show', {
  skip: withoutOurKafka,
}, async (t) => {
  const kafka = await sharedKafka(t);
  const shell = await KafkaShell.open(t, kafka);
  const [format = '', serve] = commandsIn(block('Try it', 'sh', 0));
  assert.equal(serve, 'bin/kafka-server-start.sh config/server.properties');
  assert.match((await shell.type(format)).stdout, /Formatting .*data/);
  assert.match(
    (await shell.type(block('Try it', 'sh', 1))).stdout,
    new RegExp(`^Created topic ${shell.topic}\\.$`, 'm'),
  );

  const service = await simulate(shell);
  const bridging = block('Try it', 'sh', 3);
  shell.writes(configurationIn(bridging));
  const [check = '', run = ''] = commandsIn(bridging).slice(-2);
  const said = shell.here(block('Try it', 'text', 0)).trim();
  assert.deepEqual((await shell.type(check)).stdout.split('\n'), ['metadata: can be reached', said, '']);
  const bridge = shell.start(`exec ${run}`);
  await bridge.logs('"watching"');

  const [play = '', read = ''] = commandsIn(block('Try it', 'sh', 4));
  await shell.type(play);
  for (const [change, advance] of [
    ['scheduled', '15m'],
    ['started', '10m'],
    ['ended', '0s'],
  ] as const) {
    await bridge.logs(`"change":"${change}"`);
    await fetch(`${service}/simulator/clock`, { method: 'PUT', body: JSON.stringify({ advance }) });
  }
  const shown = await shell.start(`exec ${read}`).lines(3);
  const changes = shown.map((line) => /\bce_id:([^,]+):(\w+),/.exec(line)?.slice(1) ?? [line]);
  const [[id] = []] = changes;
  assert.deepEqual(changes, [
    [id, 'scheduled'],
    [id, 'started'],
    [id, 'ended'],
  ]);
  for (const line of shown) assert.match(line, new RegExp(`Partition:\\d\\t.*\\t${id}\\t\\{"eventId"`));

  const records = (await shell.type(block('Try it', 'sh', 5))).stdout.split(/^(?=partition)/m);
  assert.equal(records.length, 3);
  const [first = ''] = block('Try it', 'text', 1).split('\n', 1);
  const shape = first.replaceAll(
    /\d+, offset \d+, key .*/g,
    `\\d, offset 0, key ${id}\\n  content-type=application/json,.*\\n  \\{"eventId".*\\}\\n$`,
  );
  assert.match(records[0] ?? '', new RegExp(`^${shape}`));
});

test('docs/operate/kafka.md, "Approvals from a topic": one starts the event, one comes too late, one is not valid', {
  skip: withoutOurKafka,
}, async (t) => {
  const kafka = await sharedKafka(t);
  const shell = await KafkaShell.open(t, kafka);
  const service = await simulate(shell);
  for (const text of [block('Try it', 'sh', 1), block('Approvals from a topic', 'sh', 0)]) await shell.type(text);
  shell.writes(`${configurationIn(block('Try it', 'sh', 3))}${block('Approvals from a topic', 'yaml')}`);
  const bridge = shell.start(`exec ${commandsIn(block('Try it', 'sh', 3)).at(-1)}`);
  await bridge.logs('it starts at the end of the topic');
  await fetch(`${service}/simulator/clock`, { method: 'PUT', body: JSON.stringify({ speed: 0 }) });

  await shell.type(block('Approvals from a topic', 'sh', 1));
  await written(kafka, shell.topic, 'started');
  assert.deepEqual(changesIn(await readTopic(kafka.brokers, shell.topic)), [
    'scheduled',
    'approval.recorded',
    'approval.submitted',
    'started',
  ]);
  await shell.type(block('Approvals from a topic', 'sh', 2));
  const failed = await written(kafka, shell.topic, 'approval.failed');
  assert.equal((JSON.parse(failed.value ?? '') as { reason: string }).reason, 'started');
  await shell.type('echo hello | kcat -P -b localhost:9092 -t approvals');
  await bridge.logs('is not a valid approval');
  assert.match(bridge.stderr, new RegExp(`"place":\\{"topic":"${shell.approvals}","partition":0,"offset":2\\}`));
});

function changesIn(records: readonly ReadRecord[]): readonly string[] {
  const types = records.map(({ headers }) => headers.find(([name]) => name === 'ce_type')?.[1] ?? '');
  return types.map((type) => type.replace(/^.*events-bridge\.|\.v1$/g, ''));
}

/** Resolves with the first record of that change. */
async function written(kafka: Kafka, topic: string, change: string): Promise<ReadRecord> {
  let found: ReadRecord | undefined;
  const look = async () => {
    const records = await readTopic(kafka.brokers, topic);
    found = records[changesIn(records).indexOf(change)];
    return found !== undefined;
  };
  await poll(look, `${change} in the topic`);
  return found ?? assert.fail();
}

interface Secured {
  readonly what: string;
  readonly listener: 'MTLS' | 'SASL_TLS';
  /** Whether its user is made and given its right as the page says. */
  readonly isMade?: boolean;
}

const SECURED: readonly Secured[] = [
  { what: 'a client certificate', listener: 'MTLS' },
  { what: 'user and password', listener: 'SASL_TLS', isMade: true },
  { what: 'a token', listener: 'SASL_TLS' },
];

for (const [index, { what, listener, isMade }] of SECURED.entries()) {
  test(`docs/operate/kafka.md, "Security": the configuration with ${what} reaches a broker that asks for it`, {
    skip: withoutOurKafka,
  }, async (t) => {
    const kafka = await sharedKafka(t);
    const shell = await KafkaShell.open(t, kafka);
    await createTopic(kafka.address, shell.topic);
    const { ca, client } = kafka.certificates;
    const user = kafka.uniqueName('bridge');
    const token = join(shell.folder, 'token');
    writeFileSync(token, unsecuredToken(user));
    const files = {
      'bridge.pem': client.certFile,
      'bridge-key.pem': client.keyFile,
      'ca.pem': ca,
      '/run/kafka/token': token,
    };
    for (const [name, file] of Object.entries(files)) shell.means(name, file);
    for (const before of ['username: ', 'User:', '--entity-name ']) shell.means(`${before}bridge`, `${before}${user}`);
    shell.means('kafka.inside.example.com:9093', kafka.listener(listener)[0] ?? '');
    const { url } = await localSimulator(t);
    shell.writes(`version: 1\nmetadata: { endpoint: "${url}" }\n${block('Security', 'yaml', index)}`);
    const check = commandsIn(block('Try it', 'sh', 3)).at(-2) ?? '';
    const env = { KAFKA_PASSWORD: 'change-me' };

    const [addUser = '', allow = ''] = isMade ? commandsIn(block('Security', 'sh')) : [];
    if (isMade) {
      await shell.type(addUser);
      await shell.type(allow.replace('User:bridge', 'User:somebody-else'));
      const refused = await shell.start(check, env).ended();
      assert.deepEqual(
        [refused.code, /lacks the right \w+/.exec(refused.stdout)?.[0]],
        [1, 'lacks the right DESCRIBE'],
      );
      await shell.type(allow);
    }
    assert.match((await shell.type(check, env)).stdout, /^sinks\.stream: can be reached/m);
  });
}

const hasPythonSdk = spawnSync('python3', ['-c', 'import confluent_kafka, cloudevents.core']).status === 0;

for (const [name, language, file, node, skip] of [
  ['Node', 'js', 'consumer.mjs', process.execPath, withoutKafka],
  [
    'Python',
    'python',
    'consumer.py',
    'python3',
    withoutKafka || (!hasPythonSdk && 'python3 has no confluent-kafka and cloudevents'),
  ],
] as const) {
  test(`docs/operate/kafka.md: the consumer in ${name} reads both modes, drops repeats, and skips what is no CloudEvent`, {
    skip,
  }, async (t) => {
    const kafka = await sharedKafka(t);
    const topic = await kafka.createTopic({ partitions: 3 });
    const producer = new Client({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    t.after(() => producer.disconnect());
    const foreign = [
      { value: 'hello' },
      { value: null },
      { value: '{}', headers: { 'content-type': 'application/json' } },
      { value: '', headers: { ce_id: '1' } },
    ];
    for (const partition of [0, 1, 2])
      await producer.send({ topic, messages: foreign.map((message) => ({ ...message, partition })) });
    const [binary, structured] = ['binary', 'structured'].map((mode) =>
      createSink(t, { options: { brokers: [...kafka.brokers], topic, mode } }),
    );
    assert.ok(binary && structured);
    for (const [sink, seq] of [
      [binary, 1],
      [binary, 1],
      [structured, 2],
      [structured, 1],
      [binary, 3],
    ] as const)
      assert.deepEqual(await sink.deliver({ seq }), ['accepted']);

    const main = writeProgram(t, { page: PAGE, heading: 'A consumer', language, file });
    const consumer = new Program([], {
      node,
      main,
      env: { BROKER: kafka.address, TOPIC: topic, GROUP: kafka.uniqueName('group') },
    });
    t.after(() => consumer.end('SIGKILL'));
    const isSkipped = (line: string) => line.startsWith('not a CloudEvent, skipped:');
    // Python reports on its standard output, too.
    const count = language === 'python' ? 3 + 3 * foreign.length : 3;
    const lines = (await consumer.lines(count)).filter((line) => !isSkipped(line));
    assert.deepEqual(
      lines.map((line) => /:updated:0*(\d) io\.github\.scheduled-events-bridge\.updated\.v1$/.exec(line)?.[1]),
      ['1', '2', '3'],
    );
    const skipped = () => [...consumer.stderr.split('\n'), ...consumer.stdout.split('\n')].filter(isSkipped).length;
    await poll(() => skipped() === 3 * foreign.length, 'all foreign records to be reported');
  });
}
