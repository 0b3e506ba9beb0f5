// Slow, closed and failing readers → the outcomes of the stdout sink, also in a process.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import * as v from 'valibot';
import { stdoutSink } from '../../../adapters/stdout/stdout.ts';
import { manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { settle } from '../../virtual/virtual-time.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

const never = new AbortController().signal;

/** A stream that completes its writes on command, with or without an error. */
class HeldStream extends Writable {
  readonly written: string[] = [];
  readonly #answers: ((error?: Error) => void)[] = [];

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.written.push(chunk.toString());
    this.#answers.push(done);
  }

  answer(error?: Error): void {
    this.#answers.shift()?.(error);
  }
}

/** Stays usable after an error, like `process.stdout`. */
class LastingStream extends HeldStream {
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    done(error);
    (this as unknown as { _undestroy(): void })._undestroy();
  }
}

function errno(code: string): Error {
  return Object.assign(new Error(`write ${code}`), { code });
}

function create(stream: Writable) {
  return manageAdapter(stdoutSink.create({}, adapterDeps({ stdout: stream })), 'under-test');
}

test('each delivery is one line, its bytes unchanged, and a batch is one write', async () => {
  const stream = new HeldStream();
  const outcome = create(stream).deliver([sampleDelivery({ seq: 1 }), sampleDelivery({ seq: 2 })], never);
  await settle();
  stream.answer();
  assert.deepEqual(await outcome, ['accepted', 'accepted']);
  const lines = [sampleDelivery({ seq: 1 }), sampleDelivery({ seq: 2 })].map(({ bytes }) => `${Buffer.from(bytes)}\n`);
  assert.deepEqual(stream.written, [lines.join('')]);
});

test('control characters are escaped only on a terminal, and the JSON is the same', async () => {
  const bytes = Buffer.from('{"data":{"description":"a\\u001b[2J\u009b31m\u202e"}}');
  const written = async (isTTY: boolean | undefined) => {
    const stream = Object.assign(new HeldStream(), isTTY === undefined ? {} : { isTTY });
    const outcome = create(stream).deliver([{ ...sampleDelivery(), bytes }], never);
    await settle();
    stream.answer();
    assert.deepEqual(await outcome, ['accepted']);
    return stream.written.join('');
  };
  for (const isTTY of [undefined, false]) assert.equal(await written(isTTY), `${bytes}\n`);
  const shown = await written(true);
  assert.equal(shown, '{"data":{"description":"a\\u001b[2J\\u009b31m\\u202e"}}\n');
  assert.deepEqual(JSON.parse(shown), JSON.parse(String(bytes)));
});

test('a delivery is accepted only when the stream has written it', async () => {
  const stream = new HeldStream();
  let accepted = false;
  const outcome = create(stream).deliver([sampleDelivery()], never);
  void outcome.then(() => {
    accepted = true;
  });
  await settle();
  assert.equal(accepted, false);
  stream.answer();
  assert.deepEqual(await outcome, ['accepted']);
});

test('a broken pipe retires the sink until the next start, and nothing more is written', async () => {
  const stream = new HeldStream();
  const adapter = create(stream);
  const outcome = adapter.deliver([sampleDelivery()], never);
  await settle();
  stream.answer(errno('EPIPE'));
  const failure = failed((await outcome)[0]);
  assert.deepEqual(
    [failure.code, failure.disposition, failure.scope, failure.untilRestart],
    ['BRIDGE_STDOUT_CLOSED', 'retired', 'sink', true],
  );
  assert.equal(failure.status, 'EPIPE');
  assert.match(failure.message, /sink under-test .*restart the bridge/);
  assert.deepEqual(await adapter.deliver([sampleDelivery(), sampleDelivery()], never), [failure, failure]);
  await assert.rejects(adapter.check(never), failure);
  assert.equal(stream.written.length, 1);
});

test('an ended or destroyed stream counts as closed', async () => {
  const ended = new PassThrough();
  ended.end();
  const destroyed = new PassThrough();
  destroyed.destroy();
  for (const stream of [ended, destroyed]) {
    const adapter = create(stream);
    assert.equal(failed((await adapter.deliver([sampleDelivery()], never))[0]).code, 'BRIDGE_STDOUT_CLOSED');
    await assert.rejects(adapter.check(never), { code: 'BRIDGE_STDOUT_CLOSED' });
  }
});

test('a delivery ends if the stream closes during the write without an error', async () => {
  const stream = new HeldStream();
  const outcome = create(stream).deliver([sampleDelivery()], never);
  await settle();
  stream.destroy();
  assert.equal(failed((await outcome)[0]).code, 'BRIDGE_STDOUT_CLOSED');
});

test('a full disk is retried, and its incomplete line corrupts no other', async () => {
  const stream = new LastingStream();
  const adapter = create(stream);
  const [torn, whole, next] = [1, 2, 3].map((seq) => [sampleDelivery({ seq })]) as [Delivery[], Delivery[], Delivery[]];
  const outcome = adapter.deliver(torn, never);
  await settle();
  stream.answer(errno('ENOSPC'));
  const failure = failed((await outcome)[0]);
  assert.deepEqual(
    [failure.code, failure.disposition, failure.scope, failure.untilRestart],
    ['BRIDGE_STDOUT_FAILED', 'retry', 'sink', false],
  );
  assert.match(failure.message, /free space on the disk/);
  for (const batch of [whole, next]) {
    const retried = adapter.deliver(batch, never);
    await settle();
    stream.answer();
    assert.deepEqual(await retried, ['accepted']);
  }
  assert.deepEqual(
    stream.written.map((chunk) => chunk.startsWith('\n')),
    [false, true, false],
  );
});

test('an error of the stream after an aborted delivery and a dispose does not end the process', async () => {
  const stream = new HeldStream();
  const adapter = create(stream);
  const controller = new AbortController();
  const outcome = assert.rejects(adapter.deliver([sampleDelivery()], controller.signal), { name: 'AbortError' });
  await settle();
  controller.abort();
  await outcome;
  await adapter[Symbol.asyncDispose]();
  const closed = new Promise<void>((resolve) => stream.once('close', resolve));
  stream.answer(errno('EPIPE'));
  await closed;
  assert.equal(stream.errored?.message, 'write EPIPE');
});

test('after it is closed, an adapter leaves the stream open and without listeners', async () => {
  const stream = new HeldStream();
  const adapter = create(stream);
  const outcome = adapter.deliver([sampleDelivery()], never);
  await settle();
  assert.equal(stream.listenerCount('error'), 1);
  stream.answer();
  await outcome;
  await adapter[Symbol.asyncDispose]();
  assert.deepEqual([stream.writable, stream.listenerCount('error'), stream.listenerCount('close')], [true, 0, 0]);
});

test('two stdout sinks share the stream, and one keeps working after the other is closed', async () => {
  const stream = new PassThrough();
  const [first, second] = [create(stream), create(stream)];
  assert.deepEqual(await first.deliver([sampleDelivery({ seq: 1 })], never), ['accepted']);
  assert.deepEqual(await second.deliver([sampleDelivery({ seq: 2 })], never), ['accepted']);
  await first[Symbol.asyncDispose]();
  assert.equal(stream.listenerCount('error'), 1);
  assert.deepEqual(await second.deliver([sampleDelivery({ seq: 3 })], never), ['accepted']);
});

test('the sink type has no options', () => {
  assert.ok(v.is(stdoutSink.options, {}));
  assert.ok(v.is(stdoutSink.options, { type: 'stdout' }));
  assert.ok(!v.is(stdoutSink.options, { type: 'stdout', url: 'x' }));
});

const PROGRAM = join(import.meta.dirname, 'write-lines.ts');

test('a reader that exits (`| head -1`) causes a failed delivery, not a crash', async () => {
  const child = spawn(process.execPath, [PROGRAM, 'until-failure'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = textOf(child.stderr);
  child.stdout.once('data', () => child.stdout.destroy());
  const [code] = await once(child, 'close');
  assert.equal(await said, 'BRIDGE_STDOUT_CLOSED retired true\n');
  assert.equal(code, 0);
});

test('the process can stop although the reader never reads', async (t) => {
  const child = spawn(process.execPath, [PROGRAM, 'until-stopped', String(4 * 1024 ** 2)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const said = textOf(child.stderr);
  await once(child.stderr, 'data');
  child.stdin.write('stop\n');
  const [code] = await once(child, 'exit');
  child.stdout.destroy();
  assert.equal(code, 0);
  assert.equal(await said, 'stuck\nAbortError\n');
});

test('the error of a full disk under standard output names the cause', async () => {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [PROGRAM, 'until-failure'], { stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  assert.ok(child.stderr);
  const [said, [code]] = await Promise.all([textOf(child.stderr), once(child, 'close')]);
  assert.equal(said, 'BRIDGE_STDOUT_FAILED retry false\n');
  assert.equal(code, 0);
});

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}
