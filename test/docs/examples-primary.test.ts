// docs/receive/examples/step-down-as-primary.md → two members, each with a bridge, and one lease.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type TestContext } from 'node:test';
import { poll } from '../support/poll.ts';
import type { Program } from '../support/program.ts';
import { Example, linesOf, says } from './documented-example.ts';

const PAGE = 'step-down-as-primary';
const QUICK = { LEASE_SECONDS: '1.5', TAKEOVER_SECONDS: '8' };

interface Member {
  readonly example: Example;
  readonly program: Program;
  readonly bridge: Program;
}

async function member(example: Example): Promise<Program> {
  const program = example.program('member.js');
  await says(program, 'deliveries are taken');
  return program;
}

/** db_0, which is primary, and db_1. */
async function cluster(
  t: TestContext,
  env: Readonly<Record<string, string>> = QUICK,
): Promise<readonly [Member, Member]> {
  const [one, other] = await Example.group(t, PAGE, ['db_0', 'db_1'], (vm) => ({ NAME: vm, ...env }));
  assert.ok(one && other);
  const first = await member(one);
  await says(first, 'primary');
  const [bridge, otherBridge, second] = await Promise.all([one.bridge(), other.bridge(), member(other)]);
  return [
    { example: one, program: first, bridge },
    { example: other, program: second, bridge: otherBridge },
  ];
}

/** As the lease says. */
function primaryOf({ folder }: Example): string {
  using db = new DatabaseSync(join(folder, 'lease.db'), { readOnly: true, timeout: 5000 });
  return String(db.prepare('SELECT holder FROM lease WHERE until >= ?').get(Date.now())?.['holder']);
}

/** Nothing of it moves. */
function frozen({ program }: Member): void {
  program.child.kill('SIGSTOP');
}

test('the primary holds, hands over, and approves only then, even after an earlier approval; a repeat does nothing; with the output of the page', async (t) => {
  const [one, other] = await cluster(t);
  frozen(other);
  await other.bridge.end('SIGKILL');
  const event = one.example.schedule();
  await says(one.program, 'held: done');
  const early = await one.example.approve(event);
  assert.deepEqual([early.status, JSON.parse(early.text).results[0].state], [202, 'held']);
  await one.example.seen();
  assert.deepEqual(one.example.azure.approvals(), []);
  other.program.child.kill('SIGCONT');
  await one.example.approved(event);
  assert.equal(primaryOf(one.example), 'db_1');
  await says(one.program, /^(not )?approved: /);
  await one.example.seen();
  await one.example.repeat();
  one.example.azure.advance('10m');
  await says(one.program, 'completed: ready');
  // With somebody else's yes the release itself lets it start.
  assert.deepEqual(
    linesOf(one.program).filter((line) => !/^(not )?approved/.test(line)),
    one.example.promised.filter((line) => !line.startsWith('approved')),
  );
});

test('a primary that hangs loses its lease, and the secondary takes over and approves by its own bridge', async (t) => {
  const [one, other] = await cluster(t);
  frozen(one);
  one.bridge.child.kill('SIGSTOP');
  const event = one.example.schedule();
  await other.example.approved(event);
  await says(other.program, 'approved: submitted');
  assert.equal(primaryOf(one.example), 'db_1');
  assert.deepEqual(linesOf(other.program).sort(), [
    'Reboot of db_0',
    'approved: submitted',
    'deliveries are taken',
    'primary',
  ]);
});

test('killed while it hands over, it starts as standby, holds again and continues', async (t) => {
  const [one, other] = await cluster(t);
  frozen(other);
  await other.bridge.end('SIGKILL');
  const event = one.example.schedule();
  await says(one.program, 'secondary');
  await one.program.end('SIGKILL');
  const again = await member(one.example);
  await says(again, 'held: done');
  other.program.child.kill('SIGCONT');
  await one.example.approved(event);
  await says(again, 'approved: submitted');
  await one.example.seen();
  await one.example.repeat();
  one.example.azure.end(event.EventId);
  await says(again, 'completed: ready');
  assert.deepEqual(linesOf(again), [
    'deliveries are taken',
    'Reboot of db_0',
    'held: done',
    'released: done',
    'approved: submitted',
    'completed: ready',
  ]);
  assert.equal(primaryOf(one.example), 'db_1');
});

test('if no member takes over, it stays primary under its hold, and nothing is approved; after a cancel, all are ready', async (t) => {
  const [one, other] = await cluster(t, { ...QUICK, TAKEOVER_SECONDS: '0.3' });
  const event = one.example.schedule({ Resources: ['db_0', 'db_1'] });
  for (const { program } of [one, other])
    await says(program, 'nobody has taken over: not approved, it starts by itself');
  const early = await one.example.approve(event);
  assert.equal(JSON.parse(early.text).results[0].state, 'held');
  await one.example.seen();
  await poll(() => primaryOf(one.example).startsWith('db_'), 'one of them as primary');
  one.example.azure.cancel(event.EventId);
  for (const { program } of [one, other]) await says(program, /^(canceled|unknown): ready$/);
  assert.deepEqual(one.example.azure.approvals(), []);
});

test('without notice it steps aside at once and approves nothing; it may be primary again when that is over', async (t) => {
  const [one, other] = await cluster(t);
  const event = one.example.schedule({ EventStatus: 'Started' });
  await says(one.program, 'secondary');
  await says(other.program, 'primary');
  await one.example.seen();
  one.example.azure.end(event.EventId);
  await says(one.program, 'completed: ready');
  await other.program.end('SIGKILL');
  await says(one.program, 'primary', 2);
  assert.deepEqual(one.example.azure.approvals(), []);
});
