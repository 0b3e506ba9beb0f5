// Two listeners with requests that never end → how long their end takes.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import type { Approvals } from '../../../src/approvals/approvals.ts';
import { openHttpInterface } from '../../../src/bridge/http-interface.ts';
import { freePorts } from '../../far-sides/simulator-server.ts';
import { configOf, surroundings, TOKEN } from '../../support/config.ts';
import { poll } from '../../support/poll.ts';
import { HttpFixture, NO_EVENTS } from '../../virtual/http-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

test('both listeners wait for their requests at the same time: 5 s, not 10', async (t) => {
  const time = new VirtualTime();
  const health = await freePorts();
  const { operations, streams } = new HttpFixture();
  const asked = new Set<string>();
  const hang = (listener: string) => () => {
    asked.add(listener);
    return new Promise<never>(() => {});
  };
  const config = configOf(
    `version: 1
http: { listen: "127.0.0.1:0", health: "127.0.0.1:${health}" }
approvals: { approvers: { orders: { token: { env: TOKEN } } } }`,
    { ...surroundings(), env: { TOKEN } },
  );
  const http = await openHttpInterface({
    ...{ config, operations, streams },
    onUnauthorized: () => {},
    onConnectionDropped: () => {},
    events: () => NO_EVENTS,
    approvals: () => ({ request: hang('main') }) as unknown as Approvals,
    reload: async () => ({ kind: 'no-file' }),
    drills: () => null,
    readiness: () => ({ ready: true, reasons: [], details: {} }),
    drain: () => null,
    asyncApi: async () => Buffer.of(),
    metrics: hang('health'),
    deps: time,
    logger: pino({ level: 'silent' }),
  });
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
  const requests = [
    fetch(`${http.url}/v1/approvals`, { method: 'POST', headers, body: '{}' }),
    fetch(`http://127.0.0.1:${health}/metrics`),
  ];
  const cut = requests.map((request) => assert.rejects(request));
  await poll(() => asked.size === 2, 'a request at each listener');
  t.after(() => time.advance(60_000));
  let isClosed = false;
  const closed = http[Symbol.asyncDispose]().then(() => {
    isClosed = true;
  });
  await time.advance(4999);
  assert.equal(isClosed, false);
  await time.advance(1);
  await poll(() => isClosed, 'both listeners to close');
  assert.equal(time.elapsedMs(), 5000);
  await Promise.all([closed, ...cut]);
});
