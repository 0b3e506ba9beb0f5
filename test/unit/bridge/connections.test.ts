// Sources of approvals → checkConnections reaches for them as this VM and takes no message.
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import test from 'node:test';
import { pino } from 'pino';
import { checkConnections } from '../../../src/bridge/connections.ts';
import { checkConfig } from '../../../src/config/check-config.ts';
import type { Config } from '../../../src/config/config.ts';
import type { Finding } from '../../../src/diagnosis/finding.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { Issuer } from '../../far-sides/token-issuer.ts';
import { surroundings } from '../../support/config.ts';
import { MemorySinks } from '../../virtual/memory-sinks.ts';
import { MemorySources, sourceAway } from '../../virtual/memory-source.ts';
import { quietMachine } from '../../virtual/quiet-machine.ts';

const never = new AbortController().signal;

function setUp(endpoint: string, source: object = {}, jwt: object = {}) {
  const sources = new MemorySources(() => 0);
  const memory = { ...new MemorySinks(() => 0).definition(never), source: sources.definition(never) };
  const file = {
    version: 1,
    metadata: { endpoint, timeout: '1s', firstTimeout: '1s' },
    approvals: {
      ...jwt,
      approvers: { ops: 'jwt' in jwt ? { subject: 'ops' } : {} },
      sources: { topic: { type: 'memory', approver: 'ops', ...source } },
    },
    sinks: { audit: { type: 'memory' } },
  };
  const checked = checkConfig(file, { ...surroundings(), adapters: [memory] });
  assert.ok('options' in checked);
  return { config: checked.options, broker: sources.broker('topic') };
}

function check(config: Config, env: Record<string, string> = {}) {
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done() });
  return checkConnections(config, {
    deps: systemDeps(),
    logger: pino({ level: 'silent' }),
    stdout,
    signal: never,
    env,
    machine: quietMachine(),
  });
}

async function all(found: AsyncIterable<Finding>): Promise<Finding[]> {
  const connections: Finding[] = [];
  for await (const connection of found) connections.push(connection);
  return connections;
}

test('each source is reached for by its name, with the name of this VM', async (t) => {
  const simulator = await localSimulator(t);
  const { config, broker } = setUp(simulator.url);
  broker.approve('a');
  assert.deepEqual((await all(check(config))).slice(1), [
    { name: 'sinks.audit', error: null, found: null },
    { name: 'approvals.sources.topic', error: null, found: 'as sim_0' },
  ]);
  assert.deepEqual([broker.verdicts, broker.deliveries], [[null], [0]]);
});

test('a source that cannot be reached says why, and is asked though the metadata service is away', async () => {
  const { config, broker } = setUp('http://127.0.0.1:1');
  broker.fault = sourceAway('no such topic: make it');
  const [metadata, , topic] = await all(check(config));
  assert.notEqual(metadata?.error, null);
  assert.deepEqual(topic, { name: 'approvals.sources.topic', error: 'no such topic: make it', found: null });
});

test('the key set of approvals.jwt is fetched, and one that cannot be had says why', async (t) => {
  const issuer = await Issuer.start(t);
  const jwt = { issuer: 'i', audience: 'a', jwks: issuer.url, allowInsecure: true, allowPrivate: ['127.0.0.1'] };
  const found = async () =>
    (await all(check(setUp('http://127.0.0.1:1', {}, { jwt }).config))).find(({ name }) => name === 'approvals.jwt');
  assert.deepEqual(await found(), { name: 'approvals.jwt', error: null, found: null });
  issuer.misbehave = (response) => response.writeHead(302, { location: '/' }).end();
  assert.match((await found())?.error ?? '', /answered 302/);
});

test('options that cannot work together show at once', () => {
  const { config } = setUp('http://127.0.0.1:1', { broken: true });
  assert.throws(() => check(config), { code: 'BRIDGE_CONFIG_INVALID' });
});

test('if something is unreachable, a proxy of the environment is named without its credentials', async () => {
  const { config } = setUp('http://127.0.0.1:1');
  const found = await all(
    check(config, { HTTPS_PROXY: 'http://user:secret@proxy:3128', http_proxy: 'http://proxy:3128', NO_PROXY: '*' }),
  );
  const { name, error, found: told } = found.at(-1) ?? assert.fail();
  assert.deepEqual([name, error], ['proxy', null]);
  assert.match(told ?? '', /^http_proxy, HTTPS_PROXY are set/);
  assert.doesNotMatch(told ?? '', /secret/);
});

test('if everything is reachable, a proxy of the environment is not mentioned', async (t) => {
  const { config } = setUp((await localSimulator(t)).url);
  const found = await all(check(config, { HTTPS_PROXY: 'http://proxy:3128' }));
  assert.deepEqual(
    found.map(({ name }) => name),
    ['metadata', 'sinks.audit', 'approvals.sources.topic'],
  );
});
