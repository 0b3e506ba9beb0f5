// What goes wrong while a source receives → how `receive` rejects, and that the next one works.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import type { ServiceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import { type OpenedSource, Reading } from '../source-reading.ts';
import { openServer, openSource, QUEUE, type SourceSetup, send } from './source-fixture.ts';

interface Told {
  readonly code: string;
  readonly disposition?: string;
  readonly says: RegExp;
}

interface Row {
  readonly title: string;
  readonly setup?: SourceSetup;
  readonly wrong: (server: ServiceBusServer) => unknown;
  readonly right: (server: ServiceBusServer) => unknown;
  readonly told: Told;
}

const SHORT = { timeout: '300ms' };

/** Faults that a source meets when it begins. */
const AT_START: readonly Row[] = [
  {
    title: 'the queue does not exist',
    wrong: (server) => server.delete(QUEUE),
    right: (server) => server.queue(QUEUE),
    told: {
      code: 'BRIDGE_SERVICE_BUS_ENTITY',
      disposition: 'misconfigured',
      says: /has no queue approvals: correct the name, or create it/,
    },
  },
  {
    title: 'the queue is disabled',
    wrong: (server) => server.setStatus(QUEUE, 'receive-disabled'),
    right: (server) => server.setStatus(QUEUE, 'active'),
    told: {
      code: 'BRIDGE_SERVICE_BUS_ENTITY',
      disposition: 'misconfigured',
      says: /has disabled the queue approvals: enable it/,
    },
  },
  {
    title: 'the key lacks the right',
    wrong: (server) => server.key('RootManageSharedAccessKey', { key: keyOf(server), claims: ['Send'] }),
    right: (server) => server.key('RootManageSharedAccessKey', { key: keyOf(server), claims: ['Send', 'Listen'] }),
    told: {
      code: 'BRIDGE_SERVICE_BUS_UNAUTHORIZED',
      disposition: 'misconfigured',
      says: /role "Azure Service Bus Data Receiver" on this scope/,
    },
  },
  {
    title: 'the token is rejected',
    wrong: (server) =>
      server.faults.onToken({
        do: 'answer',
        status: 401,
        description: 'InvalidSignature: The token has an invalid signature.',
      }),
    right: () => undefined,
    told: { code: 'BRIDGE_SERVICE_BUS_UNAUTHORIZED', disposition: 'misconfigured', says: /does not accept the token/ },
  },
  {
    title: 'the service is busy',
    wrong: (server) => server.faults.onAttach({ do: 'refuse', with: 'serverBusy' }),
    right: () => undefined,
    told: { code: 'BRIDGE_SERVICE_BUS_BUSY', disposition: 'retry', says: /is busy and asks for a pause/ },
  },
  {
    title: 'the service has an internal error',
    wrong: (server) => server.faults.onAttach({ do: 'refuse', with: 'internalError' }),
    right: () => undefined,
    told: {
      code: 'BRIDGE_SERVICE_BUS_UNAVAILABLE',
      disposition: 'retry',
      says: /delivers no messages of the queue approvals.*\(.*TrackingId [^)]+\)$/,
    },
  },
  {
    title: 'the attach is never answered',
    setup: { options: SHORT },
    wrong: (server) => server.faults.onAttach({ do: 'ignore' }),
    right: () => undefined,
    told: {
      code: 'BRIDGE_SERVICE_BUS_TIMEOUT',
      disposition: 'retry',
      says: /gave no answer for the queue approvals within 300ms/,
    },
  },
  {
    title: 'no answer arrives at all',
    setup: { options: SHORT },
    wrong: (server) => {
      server.silent = true;
    },
    right: (server) => {
      server.silent = false;
    },
    told: { code: 'BRIDGE_SERVICE_BUS_TIMEOUT', disposition: 'retry', says: /within 300ms/ },
  },
  {
    title: 'the connection is cut at once',
    wrong: (server) => server.faults.onAttach({ do: 'drop' }),
    right: () => undefined,
    told: { code: 'BRIDGE_SERVICE_BUS_BROKEN', disposition: 'retry', says: /closed the connection/ },
  },
  {
    title: 'no server listens',
    wrong: (server) => server.leave(),
    right: (server) => server.comeBack(),
    told: { code: 'BRIDGE_SERVICE_BUS_UNREACHABLE', disposition: 'retry', says: /cannot be reached/ },
  },
  {
    title: 'the queue requires sessions',
    wrong: (server) => {
      server.delete(QUEUE);
      server.queue(QUEUE, { sessions: true });
    },
    right: (server) => {
      server.delete(QUEUE);
      server.queue(QUEUE);
    },
    told: {
      code: 'BRIDGE_SERVICE_BUS_ENTITY',
      disposition: 'misconfigured',
      says: /the queue approvals requires sessions: set sessions: true/,
    },
  },
];

for (const { title, setup, wrong, right, told } of AT_START) {
  test(`if ${title}, receive reports it, and the next call receives`, async (t) => {
    const server = await openServer(t);
    const opened = openSource(server, setup);
    await wrong(server);
    const reading = new Reading(opened.source);
    assertTold(await reading.done, told, opened, server);
    assert.equal(reading.isReady, false);
    await right(server);
    await receivesAgain(server, opened);
  });
}

/** Faults in the middle. */
const LATER: readonly Omit<Row, 'setup'>[] = [
  {
    title: 'the connection is cut',
    wrong: (server) => server.cutConnections(),
    right: () => undefined,
    told: { code: 'BRIDGE_SERVICE_BUS_BROKEN', disposition: 'retry', says: /closed the connection/ },
  },
  {
    title: 'the namespace becomes unreachable',
    wrong: (server) => server.leave(),
    right: (server) => server.comeBack(),
    told: { code: 'BRIDGE_SERVICE_BUS_BROKEN', disposition: 'retry', says: /closed the connection/ },
  },
  {
    title: 'the service closes the connection',
    wrong: (server) => server.closeConnections(),
    right: () => undefined,
    told: { code: 'BRIDGE_SERVICE_BUS_BROKEN', disposition: 'retry', says: /closed the connection/ },
  },
  {
    title: 'the service detaches the link',
    wrong: (server) =>
      server.detachLinks({
        condition: 'amqp:link:detach-forced',
        description: 'The link is force detached. Code: ServerShutdown.',
      }),
    right: () => undefined,
    told: {
      code: 'BRIDGE_SERVICE_BUS_UNAVAILABLE',
      disposition: 'retry',
      says: /delivers no messages of the queue approvals/,
    },
  },
  {
    title: 'the queue is deleted',
    wrong: (server) => server.delete(QUEUE),
    right: (server) => server.queue(QUEUE),
    told: { code: 'BRIDGE_SERVICE_BUS_ENTITY', disposition: 'misconfigured', says: /has no queue approvals/ },
  },
  {
    title: 'the queue is disabled',
    wrong: (server) => server.setStatus(QUEUE, 'disabled'),
    right: (server) => server.setStatus(QUEUE, 'active'),
    told: { code: 'BRIDGE_SERVICE_BUS_ENTITY', disposition: 'misconfigured', says: /has disabled the queue approvals/ },
  },
  {
    title: 'the token expires',
    wrong: (server) => server.expireTokens(),
    right: () => undefined,
    told: {
      code: 'BRIDGE_SERVICE_BUS_UNAVAILABLE',
      disposition: 'retry',
      says: /delivers no messages of the queue approvals/,
    },
  },
];

for (const { title, wrong, right, told } of LATER) {
  test(`when ${title} while messages are received, receive reports it, and the next call receives`, async (t) => {
    const server = await openServer(t);
    const opened = openSource(server);
    const reading = await new Reading(opened.source).ready();
    await wrong(server);
    assertTold(await reading.done, told, opened, server);
    await right(server);
    await receivesAgain(server, opened);
  });
}

test('a link that the service detaches as idle is attached again without a log line', async (t) => {
  const server = await openServer(t);
  const { source, logged } = openSource(server);
  const reading = await new Reading(source).ready();
  const attached = () =>
    server.contacts('attach').filter(({ entity, role }) => entity === QUEUE && role === 'receiver').length;
  for (const times of [2, 3]) {
    await server.until(() => server.waiting === 1, 'a link with credit');
    server.detachLinks();
    await server.until(() => attached() === times, 'another link');
  }
  await send(server, ['one']);
  await reading.until(1);
  assert.deepEqual([reading.ended, logged()], [undefined, '']);
  assert.deepEqual(server.protocolErrors, []);
});

function keyOf(server: ServiceBusServer): string {
  return /SharedAccessKey=([^;]+)/.exec(server.connectionString)?.[1] ?? '';
}

function assertTold(
  error: unknown,
  { code, disposition, says }: Told,
  { logged }: OpenedSource,
  server: ServiceBusServer,
): void {
  assert.ok(error instanceof BridgeError, String(error));
  assert.deepEqual(
    [error.code, error.disposition, error.scope],
    [code, disposition, code.endsWith('TIMEOUT') ? 'delivery' : 'sink'],
  );
  assert.match(error.message, says);
  assert.match(error.message, /^source ops: 127\.0\.0\.1/);
  for (const text of [error.message, logged()]) assert.ok(!text.includes(keyOf(server)), text);
}

/** As the bridge does: it calls again where a busy machine is slower than a short time limit. */
async function receivesAgain(server: ServiceBusServer, { source }: OpenedSource): Promise<void> {
  let again = new Reading(source);
  while (!(await again.ready().then(() => true, isTimeout))) again = new Reading(source);
  await send(server, ['again']);
  await again.until(1);
  await server.until(() => server.queue(QUEUE).messages().length === 0, 'an empty queue');
}

/** False for a time limit that passed. @throws everything else */
function isTimeout(error: unknown): false {
  if (error instanceof BridgeError && error.code === 'BRIDGE_SERVICE_BUS_TIMEOUT') return false;
  throw error;
}
