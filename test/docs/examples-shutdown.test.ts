// docs/receive/examples/shut-down-gracefully.md → its program with the page's service as a child.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { poll } from '../support/poll.ts';
import type { Program } from '../support/program.ts';
import { Example, linesOf, says } from './documented-example.ts';

const PAGE = 'shut-down-gracefully';
const QUICK = { FLUSH_MS: '50' };

async function supervised(example: Example, env: Readonly<Record<string, string>> = QUICK): Promise<Program> {
  const program = example.program('supervise.js', env);
  await says(program, 'deliveries are taken');
  return program;
}

/** With nothing left of its service behind the test, whatever has become of the program. */
async function exampleOf(t: TestContext): Promise<Example> {
  const folders: string[] = [];
  t.after(() => {
    for (const pid of folders.flatMap(pidsIn).filter(isService)) process.kill(pid, 'SIGKILL');
  });
  const example = await Example.on(t, PAGE);
  folders.push(example.folder);
  return example;
}

function logIn(folder: string): string[] {
  const file = join(folder, 'service.log');
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}

/** Of each service that was started, the last one last. */
function pidsIn(folder: string): number[] {
  return logIn(folder)
    .flatMap((line) => /^up (\d+)$/.exec(line)?.[1] ?? [])
    .map(Number);
}

function isService(pid: number): boolean {
  const file = `/proc/${pid}/cmdline`;
  return existsSync(file) && readFileSync(file, 'utf8').includes('service.js');
}

/** What the service has written: `up` at each start, `all is written` at each end of its own. */
function written({ folder }: Example): string[] {
  return logIn(folder).map((line) => line.replace(/ \d+$/, ''));
}

async function isUp(example: Example, times = 1): Promise<void> {
  await poll(() => written(example).filter((line) => line === 'up').length >= times, `${times} starts of the service`);
}

test('the service ends by itself before the event is approved, and is started when it is over; a repeat does nothing; with the output of the page', async (t) => {
  const example = await exampleOf(t);
  const program = await supervised(example);
  await isUp(example);
  await example.bridge();
  const event = example.schedule();
  await example.approved(event);
  assert.deepEqual(written(example), ['up', 'all is written']);
  await says(program, 'approved: submitted');
  await example.seen();
  await example.repeat();
  example.azure.advance('10m');
  await isUp(example, 2);
  assert.deepEqual(linesOf(program), example.promised);
  assert.equal((await program.end('SIGTERM')).code, 0);
  assert.deepEqual(written(example), ['up', 'all is written', 'up', 'all is written']);
});

test('called off while the service ends, it is started again and nothing was approved', async (t) => {
  const example = await exampleOf(t);
  const program = await supervised(example, { FLUSH_MS: '600' });
  await isUp(example);
  await example.bridge();
  const event = example.schedule();
  await says(program, 'Terminate: SIGTERM');
  example.azure.cancel(event.EventId);
  await says(program, /^(canceled|unknown): starting the service$/);
  await isUp(example, 2);
  assert.deepEqual([written(example), example.azure.approvals()], [['up', 'all is written', 'up'], []]);
});

test('killed in the middle, it starts without the service, approves when the delivery comes again, and starts the service at the end', async (t) => {
  const example = await exampleOf(t);
  const program = await supervised(example, { FLUSH_MS: '400' });
  await isUp(example);
  await example.bridge();
  const event = example.schedule();
  await says(program, 'Terminate: SIGTERM');
  await program.end('SIGKILL');
  const again = await supervised(example);
  await example.approved(event);
  await says(again, 'approved: submitted');
  await again.end('SIGKILL');
  const third = await supervised(example);
  await example.seen();
  await example.repeat();
  assert.ok(!linesOf(third).includes('started'));
  example.azure.end(event.EventId);
  await isUp(example, 2);
  assert.deepEqual(linesOf(third).slice(-2), ['completed: starting the service', 'started']);
  assert.deepEqual(example.azure.approvals(), [event.EventId]);
  await third.end('SIGTERM');
});

test('a service that does not end in time is not killed, and nothing is approved', async (t) => {
  const example = await exampleOf(t);
  const program = await supervised(example, { FLUSH_MS: '1500', STOP_SECONDS: '0.1' });
  await isUp(example);
  await example.bridge();
  const event = example.schedule();
  await says(program, 'it has not ended yet: not approved, it starts by itself');
  await says(program, 'ended: 0');
  await example.seen();
  assert.deepEqual([written(example), example.azure.approvals()], [['up', 'all is written'], []]);
  example.azure.cancel(event.EventId);
  await isUp(example, 2);
  await program.end('SIGTERM');
});

test('without notice the service ends at once and nothing is approved; it is started when the last of two events has ended', async (t) => {
  const example = await exampleOf(t);
  const program = await supervised(example);
  await isUp(example);
  await example.bridge();
  const sudden = example.schedule({ EventStatus: 'Started', EventType: 'Reboot' });
  await says(program, 'ended: 0');
  const other = example.schedule({ otherTenants: '1h' });
  await says(program, 'approved: submitted');
  await example.seen();
  example.azure.end(sudden.EventId);
  await says(program, 'completed: another event is still there');
  assert.deepEqual(example.azure.approvals(), [other.EventId]);
  example.azure.cancel(other.EventId);
  await isUp(example, 2);
  await program.end('SIGTERM');
});

test('a service that crashes is started again, unless an event is there', async (t) => {
  const example = await exampleOf(t);
  const program = await supervised(example);
  await isUp(example);
  const crash = () => process.kill(pidsIn(example.folder).at(-1) ?? 0, 'SIGKILL');
  crash();
  await isUp(example, 2);
  await example.bridge();
  crash();
  await says(program, 'ended: SIGKILL', 2);
  await example.approved(example.schedule());
  await says(program, 'approved: submitted');
  assert.equal((await program.end('SIGTERM')).code, 0);
});
