// A process group on each platform, in virtual time → which signals or commands end it, and when.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type GroupSystem, ProcessGroup } from '../../../../adapters/command/process-group.ts';
import { Processes } from '../../../../adapters/command/processes.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

/** A group that is gone once it was sent `dies`; null: never. */
function system(platform: NodeJS.Platform, dies: string | null) {
  const time = new VirtualTime();
  const sent: string[] = [];
  let isAlive = true;
  const send = (what: string) => {
    sent.push(`${time.elapsedMs()} ${what}`);
    if (what === dies) isAlive = false;
  };
  const kill = (pid: number, signal: NodeJS.Signals | 0) => {
    if (!isAlive) throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
    if (signal !== 0) send(`${signal} ${pid}`);
  };
  const taskkill = async (args: readonly string[]) => send(args.join(' '));
  const group: GroupSystem = { platform, processes: new Processes('/no/such/proc'), kill, taskkill };
  return { time, sent, group: new ProcessGroup(42, group, time) };
}

async function ended(under: ReturnType<typeof system>): Promise<boolean | null> {
  let result: boolean | null = null;
  void under.group.end().then((isGone) => {
    result = isGone;
  });
  for (let step = 0; step < 100 && result === null; step++) await under.time.advance(100);
  assert.notEqual(result, null);
  return result;
}

test('TERM goes to the whole group, at once and once, and nothing follows if that was enough', async () => {
  const under = system('darwin', 'SIGTERM -42');
  void under.group.end();
  assert.equal(await ended(under), true);
  assert.deepEqual(under.sent, ['0 SIGTERM -42']);
});

test('KILL follows after 5 s', async () => {
  const under = system('darwin', 'SIGKILL -42');
  assert.equal(await ended(under), true);
  assert.deepEqual(under.sent, ['0 SIGTERM -42', '5000 SIGKILL -42']);
});

test('what not even KILL ends is told within 6 s', async () => {
  const under = system('darwin', null);
  assert.equal(await ended(under), false);
  assert.ok(under.time.elapsedMs() <= 6_000);
});

test('on Windows taskkill ends the process and what it started, by force after 5 s', async () => {
  const under = system('win32', '/PID 42 /T /F');
  assert.equal(await ended(under), true);
  assert.deepEqual(under.sent, ['0 /PID 42 /T', '5000 /PID 42 /T /F']);
});
