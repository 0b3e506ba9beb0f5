// Programs that run and fail → what operators see of them: the last line, and each failure once.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { poll } from '../../support/poll.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { eventDelivery, Scripts, startCommand } from './start-command.ts';

test('a run is listed with its event, its attempt and the last line of either stream, until it ends', async (t) => {
  const scripts = new Scripts(t);
  const body = `
wait_for() { until [ -e "$1" ]; do sleep 0.01; done; }
echo started; wait_for go1
echo "connections left: 3" >&2; wait_for go2
printf 'progress 10%%\\rprogress 20%%'; wait_for go3
exit 1`;
  const { adapter, deliver, deps } = startCommand(t, scripts, { run: [scripts.write('run', body)] });
  const last = () => adapter.running?.()[0]?.last;
  assert.deepEqual(adapter.running?.(), []);
  const beganMs = deps.wallMs();
  const outcome = deliver(eventDelivery('scheduled', { eventId: 'C7061BAC' }));
  await poll(() => last() === 'started', 'the first line');
  const [run] = adapter.running?.() ?? [];
  assert.deepEqual({ ...run, sinceMs: 0 }, { seq: 1, eventId: 'C7061BAC', sinceMs: 0, attempt: 1, last: 'started' });
  assert.ok((run?.sinceMs ?? 0) >= beganMs && (run?.sinceMs ?? 0) <= deps.wallMs());
  writeFileSync(scripts.path('go1'), '');
  await poll(() => last() === 'connections left: 3', 'the line of standard error');
  writeFileSync(scripts.path('go2'), '');
  await poll(() => last() === 'progress 20%', 'the line that has no end yet');
  writeFileSync(scripts.path('go3'), '');
  failed(await outcome);
  assert.deepEqual(adapter.running?.(), []);
});

test('a run that has said nothing has no last line, and the next attempt counts on', async (t) => {
  const scripts = new Scripts(t);
  const { adapter, deliver } = startCommand(t, scripts, {
    run: [scripts.write('run', 'until [ -e go ]; do sleep 0.01; done; exit 1')],
  });
  for (const attempt of [1, 2]) {
    const outcome = deliver();
    await poll(() => adapter.running?.().length === 1, 'the run');
    assert.deepEqual(
      adapter.running?.().map(({ attempt, last }) => [attempt, last]),
      [[attempt, null]],
    );
    writeFileSync(scripts.path('go'), '');
    failed(await outcome);
    scripts.remove('go');
  }
});

const LEAK = `echo "own hunter2-hunter2 other orders-token-0001 $(printf 'red \\033[31m')" >&2; `;
const SHOWN = 'own [secret] other [secret] red \\u001b[31m';

test('a failure has the exit code and the last line of standard error, without secrets and control characters', async (t) => {
  const scripts = new Scripts(t);
  const options = {
    run: [scripts.write('run', `${LEAK} echo output; exit 3`)],
    env: { PASSWORD: { env: 'PASSWORD' } },
  };
  const sink = { secrets: { PASSWORD: 'hunter2-hunter2' }, configured: ['orders-token-0001'] };
  const { deliver, said } = startCommand(t, scripts, options, sink);
  const { message, status } = failed(await deliver());
  assert.equal(status, 3);
  const end = `ended with exit code 3, last line on standard error: "${SHOWN}"; the bridge runs it again`;
  assert.ok(message.endsWith(end), message);
  const lines = await said(2);
  assert.equal(lines.find(({ stream }) => stream === 'stderr')?.['line'], SHOWN);
});

test('the last line of a run under way hides a secret of which the program has printed only the beginning', async (t) => {
  const scripts = new Scripts(t);
  const { adapter, deliver } = startCommand(
    t,
    scripts,
    { run: [scripts.write('run', `printf 'key orders-tok'; until [ -e go ]; do sleep 0.01; done`)] },
    { configured: ['orders-token-0001'] },
  );
  const outcome = deliver();
  await poll(() => typeof adapter.running?.()[0]?.last === 'string', 'the line');
  assert.equal(adapter.running?.()[0]?.last, 'key [secret]');
  writeFileSync(scripts.path('go'), '');
  assert.equal(await outcome, 'accepted');
});

test('the line and the message have at most 1,000 characters', async (t) => {
  const scripts = new Scripts(t);
  const { adapter, deliver } = startCommand(t, scripts, {
    run: [
      scripts.write('run', 'head -c 3000 /dev/zero | tr "\\0" x >&2; until [ -e go ]; do sleep 0.01; done; exit 3'),
    ],
  });
  const outcome = deliver();
  await poll(() => (adapter.running?.()[0]?.last?.length ?? 0) > 0, 'the line');
  await poll(() => adapter.running?.()[0]?.last?.length === 1000, 'the whole line');
  writeFileSync(scripts.path('go'), '');
  const { message } = failed(await outcome);
  assert.equal(message.length, 1000);
  assert.match(message, /exit code 3/);
});

test('a failure that repeats is logged once in full, then counted; another one and a success are logged again', async (t) => {
  const scripts = new Scripts(t);
  const { deliver, logged } = startCommand(t, scripts, {
    run: [scripts.write('run', 'echo "$BRIDGE_ATTEMPT: no route to lb" >&2; echo 2nd; exit "$(cat code)"')],
  });
  const deliveries = async (code: number, count: number, lines: number) => {
    const before = logged().length;
    writeFileSync(scripts.path('code'), `${code}`);
    for (let index = 0; index < count; index += 1) await deliver(sampleDelivery({ seq: 1 }));
    const shown = () =>
      logged()
        .slice(before)
        .filter(({ level }) => Number(level) >= 30);
    await poll(() => shown().length >= lines, 'the lines of the log');
    return shown().map(({ level, msg, failures, stream }) => [level, msg, failures ?? stream].join(' '));
  };
  const full = ['40 the program said stdout', '40 the program said stderr'];
  assert.deepEqual(await deliveries(3, 9, 2), full);
  assert.deepEqual(await deliveries(3, 2, 1), ['40 the program keeps failing in the same way 10']);
  assert.deepEqual(await deliveries(4, 2, 2), full);
  const [again, ...output] = await deliveries(0, 1, 3);
  assert.equal(again, '30 the program succeeds again 13');
  assert.deepEqual(output, ['30 the program said stdout', '30 the program said stderr']);
  assert.deepEqual(await deliveries(3, 1, 2), full);
  assert.deepEqual(await deliveries(65, 2, 4), [...full, ...full], 'each of these is a loss');
});
