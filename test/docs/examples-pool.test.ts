// docs/receive/examples/leave-a-load-balancer.md → its program behind a balancer that asks it.
import assert from 'node:assert/strict';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import { poll } from '../support/poll.ts';
import type { Program } from '../support/program.ts';
import { Example, linesOf, says } from './documented-example.ts';

const PAGE = 'leave-a-load-balancer';
type Env = Readonly<Record<string, string>>;
const QUICK: Env = { LAST_REQUEST_SECONDS: '0.05' };

async function listening(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** An application that answers with its name. */
function application(t: TestContext, name: string): Promise<number> {
  return listening(
    t,
    createServer((_, response) => response.end(name)),
  );
}

interface Member {
  readonly name: string;
  readonly port: number;
  readonly healthPort: number;
}

/**
 * As balancers do it: asks each member again and again, three refusals take it out, two good answers bring it back;
 * requests go round.
 */
class Balancer {
  readonly up: Set<string>;
  readonly #members: readonly Member[];
  port = 0;

  private constructor(members: readonly Member[]) {
    this.#members = members;
    this.up = new Set(members.map(({ name }) => name));
  }

  static async before(t: TestContext, ...members: readonly Member[]): Promise<Balancer> {
    const balancer = new Balancer(members);
    let turn = 0;
    const server = createServer((request, response) => {
      const pool = members.filter(({ name }) => balancer.up.has(name));
      turn += 1;
      const first = pool[turn % pool.length];
      const onward = httpRequest({ host: '127.0.0.1', port: first?.port, path: request.url, agent: false }, (answer) =>
        answer.pipe(response),
      );
      onward.on('error', () => response.writeHead(502).end());
      request.pipe(onward);
    });
    balancer.port = await listening(t, server);
    const stop = new AbortController();
    t.after(() => stop.abort());
    for (const member of members) void balancer.#check(member, stop.signal);
    return balancer;
  }

  async #check({ name, healthPort }: Member, signal: AbortSignal): Promise<void> {
    for (let inARow = 0, wasWell = true; !signal.aborted; ) {
      const isWell = await fetch(`http://127.0.0.1:${healthPort}/`, { signal }).then(
        ({ status }) => status === 200,
        () => false,
      );
      inARow = isWell === wasWell ? inARow + 1 : 1;
      wasWell = isWell;
      if (isWell && inARow >= 2) this.up.add(name);
      if (!isWell && inARow >= 3) this.up.delete(name);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Who answers a request, or its status where nobody does. */
  async ask(): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${this.port}/`);
    return response.ok ? await response.text() : `${response.status}`;
  }

  async has(...names: readonly string[]): Promise<void> {
    await poll(
      () => this.#members.every(({ name }) => this.up.has(name) === names.includes(name)),
      `${names} in the pool`,
    );
  }
}

/** The page's machine, web_0, its application and one other machine, behind a balancer. */
async function pool(t: TestContext, env = QUICK) {
  const [mine, other] = [await application(t, 'web_0'), await application(t, 'web_1')];
  const example = await Example.on(t, PAGE, { APP_HEALTH: `http://127.0.0.1:${mine}/`, ...env });
  const program = await beside(example);
  await example.bridge();
  const members = [
    { name: 'web_0', port: mine, healthPort: example.port },
    { name: 'web_1', port: other, healthPort: other },
  ];
  return { example, program, balancer: await Balancer.before(t, ...members) };
}

async function beside(example: Example): Promise<Program> {
  const program = example.program('leave.js');
  await says(program, 'deliveries are taken');
  return program;
}

test('it leaves the pool before it approves, no request is lost, and it comes back; a repeat does nothing; with the output of the page', async (t) => {
  const { example, program, balancer } = await pool(t);
  const askedBy = new Set([
    await balancer.ask(),
    ...(await Promise.all(Array.from({ length: 40 }, () => balancer.ask()))),
  ]);
  assert.deepEqual([...askedBy].sort(), ['web_0', 'web_1']);
  const event = example.schedule();
  let isApproved = false;
  const approved = example.approved(event).finally(() => {
    isApproved = true;
  });
  while (!isApproved) assert.match(await balancer.ask(), /^web_/);
  await approved;
  assert.deepEqual([...balancer.up], ['web_1']);
  assert.equal(await balancer.ask(), 'web_1');
  await example.seen();
  await example.repeat();
  example.azure.advance('10m');
  await says(program, 'completed: back in the pool');
  await balancer.has('web_0', 'web_1');
  assert.deepEqual(linesOf(program), example.promised);
});

test('called off while it leaves, it comes back and has approved nothing', async (t) => {
  const { example, program, balancer } = await pool(t, { LAST_REQUEST_SECONDS: '0.5' });
  const event = example.schedule();
  await says(program, 'out of the pool after 3 checks');
  example.azure.cancel(event.EventId);
  await says(program, /^(canceled|unknown): back in the pool$/);
  await balancer.has('web_0', 'web_1');
  assert.deepEqual(example.azure.approvals(), []);
});

test('killed while it leaves, it starts out of the pool, gets the delivery again and approves; killed after that, it stays out until the end', async (t) => {
  const { example, program, balancer } = await pool(t, { LAST_REQUEST_SECONDS: '0.2' });
  const event = example.schedule();
  await says(program, 'out of the pool after 3 checks');
  await program.end('SIGKILL');
  const again = await beside(example);
  await example.approved(event);
  await says(again, 'approved: submitted');
  await again.end('SIGKILL');
  const third = await beside(example);
  assert.equal((await fetch(`http://127.0.0.1:${example.port}/`)).status, 503);
  await example.seen();
  await example.repeat();
  assert.deepEqual([...balancer.up], ['web_1']);
  example.azure.advance('10m');
  await says(third, 'completed: back in the pool');
  await balancer.has('web_0', 'web_1');
  assert.deepEqual(example.azure.approvals(), [event.EventId]);
});

test('if the balancer does not check its health, it stays out of the pool and approves nothing', async (t) => {
  const example = await Example.on(t, PAGE, { LEAVE_SECONDS: '0.1' });
  const program = await beside(example);
  await example.bridge();
  example.schedule();
  await says(program, 'the balancer does not ask: not approved, it starts by itself');
  assert.equal((await fetch(`http://127.0.0.1:${example.port}/`)).status, 503);
  await example.seen();
  assert.deepEqual(example.azure.approvals(), []);
});

test('without notice it leaves at once and approves nothing, and the balancer sees that its application is unhealthy', async (t) => {
  const { example, program, balancer } = await pool(t, { APP_HEALTH: 'http://127.0.0.1:1/' });
  await balancer.has('web_1');
  const event = example.schedule({ EventStatus: 'Started' });
  await says(program, 'Redeploy: leaving the pool');
  await example.seen();
  example.azure.end(event.EventId);
  await says(program, 'completed: back in the pool');
  assert.deepEqual([[...balancer.up], example.azure.approvals()], [['web_1'], []]);
});
