// docs/receive/examples/checkpoint-a-batch-job.md → its job: every item done exactly once.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { poll } from '../support/poll.ts';
import type { Program } from '../support/program.ts';
import { Example, linesOf, says } from './documented-example.ts';

const PAGE = 'checkpoint-a-batch-job';
/** Never done while the event is there. */
const LONG = { ITEMS: '1000000', STEP_MS: '2' };

interface Job {
  readonly next: number;
  readonly digest: string;
}

async function running(example: Example, env: Readonly<Record<string, string>> = LONG): Promise<Program> {
  const program = example.program('batch.js', env);
  await says(program, 'deliveries are taken');
  return program;
}

/** Empty where there is no such file. */
function textOf({ folder }: Example, file: string): string {
  const path = join(folder, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function checkpoint(example: Example): Job {
  return JSON.parse(textOf(example, 'checkpoint.json') || '{"next":0,"digest":""}') as Job;
}

/** What comes of so many items, each once and in order. */
function digestOf(count: number): string {
  let digest = '';
  for (let item = 0; item < count; item += 1) digest = createHash('sha256').update(`${digest}${item}`).digest('hex');
  return digest;
}

function assertWhole(job: Job): void {
  assert.ok(job.next > 0);
  assert.equal(job.digest, digestOf(job.next));
}

test('it writes a checkpoint and approves, pauses until the event is over, then continues; a repeat does nothing; with the output of the page', async (t) => {
  const example = await Example.on(t, PAGE);
  const job = await running(example);
  await example.bridge();
  const event = example.schedule();
  await example.approved(event);
  await says(job, 'approved: submitted');
  const saved = checkpoint(example);
  assertWhole(saved);
  await example.seen();
  await example.repeat();
  example.azure.advance('10m');
  await says(job, 'completed: going on');
  assert.deepEqual(linesOf(job), example.promised);
  const second = example.schedule();
  await says(job, 'approved: submitted', 2);
  assert.notEqual(second.EventId, event.EventId);
  assert.ok(checkpoint(example).next > saved.next, 'it had gone on');
  assertWhole(checkpoint(example));
});

test('another machine continues from the checkpoint, and each item is in the result once', async (t) => {
  const example = await Example.on(t, PAGE);
  const job = await running(example);
  await example.bridge();
  await example.approved(example.schedule());
  await says(job, 'approved: submitted');
  await job.end('SIGKILL');
  const items = checkpoint(example).next + 50;
  const elsewhere = await running(example, {
    ITEMS: `${items}`,
    STEP_MS: '0',
    STATE: 'elsewhere.json',
    HOOK_PORT: '0',
  });
  await says(elsewhere, 'from the checkpoint');
  await says(elsewhere, `done: ${digestOf(items)}`);
});

test('after a cancel, it continues by itself', async (t) => {
  const example = await Example.on(t, PAGE);
  const job = await running(example, { ...LONG, STEP_MS: '400' });
  await example.bridge();
  const event = example.schedule({ EventType: 'Terminate' });
  await example.seen();
  example.azure.cancel(event.EventId);
  await says(job, /^(canceled|unknown): going on$/);
  await says(job, 'Terminate: checkpoint written');
});

test('killed at any time, it has a complete checkpoint; on the same machine it starts paused until the event is over', async (t) => {
  const example = await Example.on(t, PAGE);
  const often = { ...LONG, STEP_MS: '0', EVERY_SECONDS: '0' };
  let before = 0;
  for (let round = 0; round < 3; round += 1) {
    const victim = await running(example, often);
    await poll(() => checkpoint(example).next > before, 'a newer checkpoint');
    await victim.end('SIGKILL');
    assertWhole(checkpoint(example));
    before = checkpoint(example).next;
  }
  const job = await running(example, { ...LONG, STEP_MS: '300' });
  await example.bridge();
  const event = example.schedule();
  await poll(() => textOf(example, 'prepared.json').includes(event.EventId), 'its preparation');
  await job.end('SIGKILL');
  const again = await running(example);
  await example.approved(event);
  await says(again, 'approved: submitted');
  const { next } = checkpoint(example);
  await again.end('SIGKILL');
  // So that each step would show.
  const third = await running(example, { ...LONG, EVERY_SECONDS: '0' });
  await example.seen();
  await example.repeat();
  assert.equal(checkpoint(example).next, next, 'it stands still');
  example.azure.end(event.EventId);
  await says(third, 'completed: going on');
  assert.deepEqual(example.azure.approvals(), [event.EventId]);
});

test('without notice it writes its checkpoint and approves nothing; a finished job approves at once', async (t) => {
  const example = await Example.on(t, PAGE);
  const job = await running(example);
  await example.bridge();
  const event = example.schedule({ EventStatus: 'Started' });
  await says(job, 'Preempt: checkpoint written');
  await example.seen();
  assert.deepEqual(example.azure.approvals(), []);
  example.azure.end(event.EventId);
  await says(job, 'completed: going on');
  await job.end('SIGKILL');
  const done = await running(example, { ITEMS: '1', STEP_MS: '0' });
  await says(done, /^done: /);
  await example.approved(example.schedule());
});
