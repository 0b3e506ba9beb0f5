// Programs that end in every way → what it counts as, and what of their output is logged.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { eventDelivery, Scripts, startCommand } from './start-command.ts';

const EXITS = [
  [65, 'refused', 'BRIDGE_COMMAND_REFUSED'],
  [77, 'misconfigured', 'BRIDGE_COMMAND_MISCONFIGURED'],
  [78, 'misconfigured', 'BRIDGE_COMMAND_MISCONFIGURED'],
  [126, 'misconfigured', 'BRIDGE_COMMAND_MISCONFIGURED'],
  [127, 'misconfigured', 'BRIDGE_COMMAND_MISCONFIGURED'],
  [1, 'retry', 'BRIDGE_COMMAND_FAILED'],
  [75, 'retry', 'BRIDGE_COMMAND_FAILED'],
  [255, 'retry', 'BRIDGE_COMMAND_FAILED'],
] as const;

for (const [exit, disposition, code] of EXITS) {
  test(`exit code ${exit} is ${disposition}, of this delivery alone`, async (t) => {
    const scripts = new Scripts(t);
    const { deliver } = startCommand(t, scripts, { run: [scripts.write('run', `exit ${exit}`)] });
    const failure = failed(await deliver());
    assert.deepEqual(
      [failure.disposition, failure.code, failure.status, failure.scope],
      [disposition, code, exit, 'delivery'],
    );
  });
}

test('a program that a signal ended is run again, and the message names the signal', async (t) => {
  const scripts = new Scripts(t);
  const { deliver } = startCommand(t, scripts, { run: [scripts.write('run', 'kill -9 $$')] });
  const failure = failed(await deliver());
  assert.deepEqual([failure.disposition, failure.status], ['retry', 'SIGKILL']);
  assert.match(failure.message, /was ended by SIGKILL, not by the bridge/);
});

test('a run for scheduled or updated that ends with 0 is the yes of approve, no other is', async (t) => {
  const scripts = new Scripts(t);
  const { deliver } = startCommand(t, scripts, {
    run: [scripts.write('run', 'exit "$(cat code)"')],
    approve: 'orders',
  });
  const outcome = async (change: string, code: number) => {
    writeFileSync(scripts.path('code'), `${code}`);
    return deliver(eventDelivery(change, {}));
  };
  assert.deepEqual(await outcome('scheduled', 0), { result: 'accepted', approves: true });
  assert.deepEqual(await outcome('updated', 0), { result: 'accepted', approves: true });
  assert.equal(await outcome('started', 0), 'accepted');
  assert.equal(await outcome('ended', 0), 'accepted');
  assert.equal(failed(await outcome('scheduled', 1)).disposition, 'retry');
});

test('standard input is the CloudEvent byte for byte; the attempt is counted from 1', async (t) => {
  const scripts = new Scripts(t);
  const { deliver } = startCommand(t, scripts, {
    run: [scripts.write('run', 'cat > input; echo "$BRIDGE_ATTEMPT" >> attempts; exit 1')],
  });
  const delivery = sampleDelivery({ padding: 300_000 });
  for (const _ of [1, 2, 3]) failed(await deliver(delivery));
  failed(await deliver(sampleDelivery({ seq: 2, partitionKey: 'other' })));
  assert.equal(scripts.read('attempts'), '1\n2\n3\n1\n');
  failed(await deliver(delivery));
  assert.deepEqual(readFileSync(scripts.path('input')), Buffer.from(delivery.bytes));
});

for (const [what, body] of [
  ['exits at once without reading its input', 'exit 0'],
  ['closes its input and goes on', 'exec 0<&-; sleep 0.05; exit 0'],
  ['never reads its input', 'sleep 0.05; exit 0'],
] as const) {
  test(`a program that ${what} is accepted by its exit code, with output left to read`, async (t) => {
    const scripts = new Scripts(t);
    const { deliver } = startCommand(t, scripts, { run: [scripts.write('run', body)] });
    assert.equal(await deliver(sampleDelivery({ padding: 4_000_000 })), 'accepted');
  });
}

test('the last 4 KiB of each stream are logged by lines: info for 0, else warn, with control characters escaped', async (t) => {
  const scripts = new Scripts(t);
  const body = `
i=0; while [ $i -lt 2000 ]; do echo "line $i"; i=$((i+1)); done
printf 'red \\033[31m bell \\007 del \\177 c1 \\302\\233 tab \\t end\\n' >&2
exit "$CODE"`;
  const path = scripts.write('run', body);
  for (const [code, level] of [
    ['0', 30],
    ['3', 40],
  ] as const) {
    const { deliver, said } = startCommand(t, scripts, { run: [path], env: { CODE: code } });
    await deliver();
    const lines = await said(200);
    const stdout = lines.filter(({ stream }) => stream === 'stdout').map(({ line }) => String(line));
    assert.equal(stdout.at(-1), 'line 1999');
    assert.ok(stdout.join('\n').length <= 4096 && stdout.join('\n').length > 4000);
    const [stderr] = lines.filter(({ stream }) => stream === 'stderr');
    assert.equal(stderr?.['line'], 'red \\u001b[31m bell \\u0007 del \\u007f c1 \\u009b tab \\t end');
    assert.deepEqual([...new Set(lines.map((line) => line['level']))], [level]);
    assert.equal(stderr?.['id'], sampleDelivery().id);
  }
});

test('a daemon that keeps the pipes open delays nothing, is not ended, and what was said before is logged', async (t) => {
  const scripts = new Scripts(t);
  const { deliver, said, adapter } = startCommand(t, scripts, {
    run: [scripts.write('run', 'echo before; (trap "" HUP; sleep 20) & echo $! > daemon; exit 0')],
  });
  const startedMs = performance.now();
  assert.equal(await deliver(), 'accepted');
  await adapter[Symbol.asyncDispose]();
  assert.ok(performance.now() - startedMs < 10_000);
  assert.deepEqual(
    (await said()).map(({ line }) => line),
    ['before'],
  );
  const daemon = Number(scripts.read('daemon'));
  process.kill(daemon, 'SIGKILL');
});

test('a flood on both outputs is read to its end in bounded memory', async (t) => {
  const scripts = new Scripts(t);
  const body = 'head -c 32000000 /dev/zero >&2 & head -c 32000000 /dev/zero; wait; echo last; exit 0';
  const { deliver, said } = startCommand(t, scripts, { run: [scripts.write('run', body)] });
  const before = process.memoryUsage().rss;
  assert.equal(await deliver(), 'accepted');
  const lines = (await said()).map(({ line }) => String(line));
  assert.ok(lines.some((line) => line.endsWith('last')));
  assert.ok(process.memoryUsage().rss - before < 100_000_000);
});

test('lines of the log name what the bridge has bound to its logger, the area and the sink, no second time', async (t) => {
  const scripts = new Scripts(t);
  const { deliver, logged, said } = startCommand(t, scripts, { run: [scripts.write('run', 'echo done')] });
  assert.equal(await deliver(eventDelivery('scheduled', { eventType: 'a\0b' })), 'accepted');
  await said();
  assert.equal(logged().length, 2);
  for (const line of logged()) assert.deepEqual([line['area'], line['sink']], [undefined, undefined]);
});
