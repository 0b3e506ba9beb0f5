// Clients, the recorder and a metadata service → unchanged answers, and a file of them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Logger } from 'pino';
import { BridgeError } from '../../../../src/errors.ts';
import { startRecording } from '../../../../src/simulator/recording/recorder.ts';
import type { RecordingLine } from '../../../../src/simulator/recording/recording.ts';
import {
  type RecordingProxyOptions,
  startRecordingProxy,
} from '../../../../src/simulator/recording/recording-proxy.ts';
import { scriptOfRecording } from '../../../../src/simulator/recording/replay.ts';
import { startSimulator } from '../../../../src/simulator/server.ts';
import { systemDeps } from '../../../../src/time/system.ts';
import { FakeMetadata, fakeDocument } from '../../../far-sides/metadata-service.ts';
import { folderOf } from '../../../support/folder.ts';
import { poll } from '../../../support/poll.ts';
import { START_MS } from '../../../virtual/recording-fixture.ts';
import { EVENTS } from '../../../virtual/simulation.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 };

interface Received {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

async function ask(url: string, options: RequestOptions & { body?: string } = {}): Promise<Received> {
  const asked = request(url, { headers: { Metadata: 'true' }, agent: false, ...options }).end(options.body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) };
}

const pathOf = (t: TestContext): string => join(folderOf(t), 'night.ndjson');

interface Fixture {
  readonly url: string;
  readonly path: string;
  /** Closes the recorder and reads its file, without the header. */
  readonly lines: () => Promise<readonly RecordingLine[]>;
}

async function record(
  t: TestContext,
  upstream: string,
  options: Partial<RecordingProxyOptions> = {},
): Promise<Fixture> {
  const path = pathOf(t);
  const proxy = await startRecordingProxy({
    listen: LOOPBACK,
    upstream,
    path,
    anonymise: false,
    deps: systemDeps(),
    ...options,
  });
  t.after(() => proxy[Symbol.asyncDispose]());
  const lines = async () => {
    await proxy[Symbol.asyncDispose]();
    return readFileSync(path, 'utf8')
      .split('\n')
      .slice(1, -1)
      .map((line) => JSON.parse(line) as RecordingLine);
  };
  return { url: proxy.url, path, lines };
}

const kinds = (lines: readonly RecordingLine[]) =>
  lines.map(
    ({ document, answer, post, unchanged }) =>
      document?.DocumentIncarnation ?? answer?.status ?? post?.status ?? unchanged,
  );

async function simulator(t: TestContext) {
  const time = new VirtualTime({ startMs: START_MS });
  const server = await startSimulator({
    listen: LOOPBACK,
    deps: { ...systemDeps(), wallMs: time.wallMs, random: time.random },
  });
  t.after(() => server[Symbol.asyncDispose]());
  const control = (method: string, path: string, body: object = {}) =>
    ask(`${server.url}/simulator${path}`, { method, body: JSON.stringify(body) });
  return { url: server.url, control };
}

test("a client gets the metadata service's answers byte for byte: documents, ETags, 304, refusals, the instance", async (t) => {
  const { url, control } = await simulator(t);
  await control('POST', '/events', { Description: 'ü', EventId: 'A' });
  const recorder = await record(t, url);
  const questions: readonly (readonly [string, RequestOptions & { body?: string }])[] = [
    [EVENTS, {}],
    [EVENTS, { headers: { Metadata: 'true', 'If-None-Match': '"2"' } }],
    [EVENTS, { headers: {} }],
    [EVENTS, { headers: { Metadata: 'true', 'X-Forwarded-For': '10.0.0.1' } }],
    [EVENTS, { method: 'PUT', body: '{}' }],
    [EVENTS, { method: 'POST', body: '{' }],
    ['/metadata/scheduledevents?api-version=latest', {}],
    ['/METADATA/ScheduledEvents?api-version=2017-03-01', {}],
    ['/metadata/instance?api-version=2021-02-01', {}],
    ['/metadata/none', {}],
  ];
  for (const [path, options] of questions) {
    const [direct, passed] = [await ask(url + path, options), await ask(recorder.url + path, options)];
    const said = ({ status, headers: { date: _, ...headers }, body }: Received) => ({ status, headers, body });
    assert.deepEqual(said(passed), said(direct), path);
  }
});

test('a recorded maintenance, with approval and faults, is replayed to the next client', async (t) => {
  const { url, control } = await simulator(t);
  const recorder = await record(t, url);
  const poll = () => ask(recorder.url + EVENTS);
  await poll();
  await control('POST', '/events', { EventId: 'A' });
  await poll();
  await poll();
  await control('PUT', '/faults', { status: 503 });
  await poll();
  await poll();
  await ask(recorder.url + EVENTS, { method: 'POST', body: '{"StartRequests":[{"EventId":"A"}]}' });
  await poll();
  await control('POST', '/events/A/end');
  await poll();
  const lines = await recorder.lines();
  assert.deepEqual(kinds(lines), [1, 2, 503, true, 200, 3, 4]);
  assert.deepEqual(lines[4]?.post, { StartRequests: [{ EventId: 'A' }], status: 200 });
  await using again = await startSimulator({
    listen: LOOPBACK,
    script: await scriptOfRecording(recorder.path),
    speed: 0,
    deps: systemDeps(),
  });
  await ask(`${again.url}/simulator/clock`, { method: 'PUT', body: '{"advance":"1h"}' });
  const { body } = await ask(again.url + EVENTS);
  assert.equal(body.toString(), '{"DocumentIncarnation":4,"Events":[]}');
});

test('an anonymised recording has no name and no id, and the client gets both', async (t) => {
  const fake = await FakeMetadata.start(t);
  const recorder = await record(t, fake.url, { anonymise: true });
  fake.next({
    body: fakeDocument(2, {
      EventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
      Resources: ['payroll_0'],
      Description: 'On payroll_0.',
    }),
  });
  assert.match((await ask(recorder.url + EVENTS)).body.toString(), /C7061BAC.*payroll_0/);
  fake.next({});
  await ask(recorder.url + EVENTS, {
    method: 'POST',
    body: '{"StartRequests":[{"EventId":"C7061BAC-AFDC-4513-B24B-AA5F13A16123"}]}',
  });
  assert.equal(fake.requests[1]?.body, '{"StartRequests":[{"EventId":"C7061BAC-AFDC-4513-B24B-AA5F13A16123"}]}');
  const [listed, posted] = await recorder.lines();
  assert.doesNotMatch(readFileSync(recorder.path, 'utf8'), /c7061bac|payroll/i);
  assert.deepEqual(
    [listed?.document?.Events[0]?.Resources, listed?.document?.Events[0]?.Description],
    [['vm_0'], 'On vm_0.'],
  );
  assert.deepEqual(posted?.post?.StartRequests, [{ EventId: listed?.document?.Events[0]?.EventId }]);
});

test('a reset and a cut-off answer reach the client and the file as such', async (t) => {
  const fake = await FakeMetadata.start(t);
  const recorder = await record(t, fake.url);
  fake.next('reset', { truncated: '{"Docu' });
  await assert.rejects(ask(recorder.url + EVENTS), { code: 'ECONNRESET' });
  await assert.rejects(ask(recorder.url + EVENTS), { code: 'ECONNRESET' });
  const lines = await recorder.lines();
  assert.deepEqual(
    lines.map(({ answer }) => answer),
    [{ reset: true }, { status: 200, body: '{"Docu', cut: true }],
  );
});

test('for an upstream that is down the client gets 502 and the file one line', async (t) => {
  const fake = await FakeMetadata.start(t);
  const recorder = await record(t, fake.url);
  await fake.stop();
  assert.equal((await ask(recorder.url + EVENTS)).status, 502);
  assert.equal((await ask(recorder.url + EVENTS)).status, 502);
  const lines = await recorder.lines();
  assert.deepEqual(
    lines.map(({ answer }) => [answer?.status, answer?.unreachable]),
    [[502, 'ECONNREFUSED']],
  );
});

test('a client that disconnects is disconnected upstream too, and leaves no line', async (t) => {
  const fake = await FakeMetadata.start(t);
  const recorder = await record(t, fake.url);
  fake.next('hold');
  const asked = request(recorder.url + EVENTS, { headers: { Metadata: 'true' }, agent: false }).end();
  asked.on('error', () => {});
  await poll(() => fake.held.length === 1, 'the request');
  const closed = once(fake.held[0] as NonNullable<(typeof fake.held)[0]>, 'close');
  asked.destroy();
  await closed;
  assert.deepEqual(readFileSync(recorder.path, 'utf8'), '');
  assert.equal((await ask(recorder.url + EVENTS)).status, 200);
});

test('the file has wall times', async (t) => {
  const fake = await FakeMetadata.start(t);
  const recorder = await record(t, fake.url, { deps: new VirtualTime({ startMs: START_MS }) });
  await ask(recorder.url + EVENTS);
  assert.equal((await recorder.lines())[0]?.at, new Date(START_MS).toISOString());
});

test('only /metadata is forwarded, and no identity below it', async (t) => {
  const fake = await FakeMetadata.start(t);
  const recorder = await record(t, fake.url);
  assert.deepEqual((await ask(`${recorder.url}/simulator/events`, { method: 'POST', body: '{}' })).status, 404);
  for (const path of [
    'identity/oauth2/token?resource=x',
    'Identity/info',
    '%69dentity/oauth2/token',
    'instance/../identity',
  ]) {
    const asked = await ask(recorder.url, { path: `/metadata/${path}` });
    assert.equal(asked.status, 403, path);
  }
  assert.equal(fake.requests.length, 0);
});

test('closing a recorder ends open requests and releases its port and its file', async (t) => {
  const fake = await FakeMetadata.start(t);
  const recorder = await record(t, fake.url);
  fake.next('hold');
  const asked = assert.rejects(ask(recorder.url + EVENTS), { code: 'ECONNRESET' });
  await poll(() => fake.held.length === 1, 'the request');
  assert.deepEqual(await recorder.lines(), []);
  await asked;
  await assert.rejects(ask(recorder.url + EVENTS), { code: 'ECONNREFUSED' });
});

test('a failed start leaves nothing behind: a bad upstream, its own address, a file in use, a port in use', async (t) => {
  const { url } = await simulator(t);
  const port = Number(new URL(url).port);
  const path = pathOf(t);
  const start = async (options: Partial<RecordingProxyOptions>) => {
    const proxy = await startRecordingProxy({
      listen: LOOPBACK,
      upstream: url,
      path,
      anonymise: false,
      deps: systemDeps(),
      ...options,
    });
    t.after(() => proxy[Symbol.asyncDispose]());
    return proxy;
  };
  const code = (expected: string) => (error: unknown) => error instanceof BridgeError && error.code === expected;
  await assert.rejects(start({ upstream: 'https://x' }), code('BRIDGE_USAGE'));
  await assert.rejects(start({ listen: { host: '127.0.0.1', port } }), code('BRIDGE_SIMULATOR_LISTEN'));
  await assert.rejects(start({ path: join(path, '..') }), code('BRIDGE_SIMULATOR_RECORDING'));
  const free = await start({});
  await free[Symbol.asyncDispose]();
  const listen = { host: '127.0.0.1', port: Number(new URL(free.url).port) };
  await assert.rejects(start({ listen, upstream: free.url }), code('BRIDGE_USAGE'));
  await assert.rejects(start({ listen, upstream: `http://localhost:${listen.port}` }), code('BRIDGE_USAGE'));
  await (await start({ listen }))[Symbol.asyncDispose]();
});

test('listening beyond loopback is logged', async (t) => {
  const warnings: unknown[] = [];
  const logger = { warn: (...said: unknown[]) => void warnings.push(said) } as unknown as Logger;
  const fake = await FakeMetadata.start(t);
  await record(t, fake.url, { logger });
  assert.equal(warnings.length, 0);
  await record(t, fake.url, { logger, listen: { host: '0.0.0.0', port: 0 } });
  assert.equal(warnings.length, 1);
});

test("without an upstream a recording has the simulator's own answers, by machine, in simulated time", async (t) => {
  const path = pathOf(t);
  const deps = { ...systemDeps(), wallMs: () => START_MS };
  const recording = await startRecording({ path, anonymise: false, startedAtMs: deps.wallMs(), deps });
  await using group = await startSimulator({
    listen: LOOPBACK,
    vms: ['a_0', 'a_1'],
    speed: 0,
    deps,
    onAnswer: recording.record,
  });
  const [first, second] = group.urls;
  for (const machine of [first, second]) await ask(`${machine?.url}${EVENTS}`);
  await ask(`${first?.url}/simulator/events`, { method: 'POST', body: '{"EventId":"A"}' });
  await ask(`${first?.url}/simulator/clock`, { method: 'PUT', body: '{"advance":"15m"}' });
  await ask(`${first?.url}${EVENTS}`);
  await recording[Symbol.asyncDispose]();
  const lines = readFileSync(path, 'utf8').trim().split('\n').slice(1);
  assert.deepEqual(
    lines
      .map((line) => JSON.parse(line) as RecordingLine)
      .map(({ at, vm, document }) => [Date.parse(at) - START_MS, vm, document?.DocumentIncarnation]),
    [
      [0, 'a_0', 1],
      [0, 'a_1', 1],
      [900_000, 'a_0', 3],
    ],
  );
});
