// A user, as root → the program runs with its uid, primary group, no others, and its HOME.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { test } from 'node:test';
import { failed } from '../contract.ts';
import { never, Scripts, startCommand } from './start-command.ts';

const SKIP = process.geteuid?.() === 0 ? false : 'only root may run programs as others';
const SHOW = 'echo "$(id -u) $(id -g) $(id -G) $HOME $TOKEN" > seen';

function openScripts(scripts: Scripts): Scripts {
  chmodSync(scripts.folder, 0o777);
  return scripts;
}

for (const user of ['nobody', 65_534] as const) {
  test(`user ${user} has its uid, its primary group alone, and its HOME`, { skip: SKIP }, async (t) => {
    const scripts = openScripts(new Scripts(t));
    const env = { TOKEN: { env: 'T' } };
    const { deliver, adapter } = startCommand(
      t,
      scripts,
      { run: [scripts.write('run', SHOW)], user, env },
      { secrets: { T: 'secret' } },
    );
    assert.equal(await adapter.check(never), null);
    assert.equal(await deliver(), 'accepted');
    assert.match(scripts.read('seen') ?? '', /^65534 65534 65534 \/\S* secret\n$/);
  });
}

test('a HOME in env wins over that of the user', { skip: SKIP }, async (t) => {
  const scripts = openScripts(new Scripts(t));
  const { deliver } = startCommand(t, scripts, {
    run: [scripts.write('run', SHOW)],
    user: 'nobody',
    env: { HOME: '/own' },
  });
  assert.equal(await deliver(), 'accepted');
  assert.match(scripts.read('seen') ?? '', / \/own \n$/);
});

test('a program that the user may not execute is misconfigured, by check too', { skip: SKIP }, async (t) => {
  const scripts = openScripts(new Scripts(t));
  const program = startCommand(t, scripts, { run: [scripts.write('run', 'exit 0', { mode: 0o700 })], user: 'nobody' });
  const noRight = /the user nobody may not execute it/;
  assert.match(failed(await program.deliver()).message, noRight);
  await assert.rejects(program.adapter.check(never), noRight);
});

test('a program in a folder that the user may not enter is misconfigured, also in check, and also behind a link', {
  skip: SKIP,
}, async (t) => {
  const scripts = openScripts(new Scripts(t));
  mkdirSync(scripts.path('closed'), { mode: 0o700 });
  const program = scripts.write('closed/run', 'exit 0');
  symlinkSync(program, scripts.path('link'));
  for (const run of [[program], [scripts.path('link')]]) {
    const { deliver, adapter } = startCommand(t, scripts, { run, user: 'nobody' });
    const closed = /the user nobody may not enter the folder \S*closed that leads to it/;
    assert.match(failed(await deliver()).message, closed);
    await assert.rejects(adapter.check(never), closed);
  }
});

test('without user the program runs as the bridge', async (t) => {
  const scripts = new Scripts(t);
  const { deliver } = startCommand(t, scripts, { run: [scripts.write('run', 'id -u > seen')] });
  assert.equal(await deliver(), 'accepted');
  assert.equal(scripts.read('seen'), `${userInfo().uid}\n`);
});
