// Programs that cannot start, notes that cannot be stored → each told apart, by check too.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import { deliveryNotes } from '../adapter-deps.ts';
import { failed } from '../contract.ts';
import { never, Scripts, startCommand } from './start-command.ts';

type Options = Readonly<Record<string, unknown>>;

const FAULTS: readonly (readonly [what: string, options: (scripts: Scripts) => Options, message: RegExp])[] = [
  [
    'a missing program',
    (scripts) => ({ run: [scripts.path('no-such')] }),
    /the file does not exist: install it, or correct run/,
  ],
  [
    'a name that PATH does not have',
    () => ({ run: ['no-such-program'] }),
    /no folder of PATH has a program with this name/,
  ],
  ['a folder', (scripts) => ({ run: [scripts.folder] }), /it is not a file: correct run/],
  [
    'a file without the right to execute',
    (scripts) => ({ run: [scripts.write('run', '', { mode: 0o644 })] }),
    /may not execute it/,
  ],
  [
    'a missing interpreter',
    (scripts) => ({ run: [scripts.write('run', '', { interpreter: '/no/such/interpreter' })] }),
    /its interpreter \/no\/such\/interpreter does not exist/,
  ],
  [
    'line ends of Windows',
    (scripts) => ({ run: [scripts.write('run', '', { interpreter: '/bin/sh\r' })] }),
    /has a line end of Windows/,
  ],
  [
    'a missing directory',
    (scripts) => ({ run: [scripts.write('run', '')], directory: 'no-such' }),
    /the folder .*no-such does not exist: create it/,
  ],
  [
    'a user that does not exist',
    (scripts) => ({ run: [scripts.write('run', '')], user: 'no-such-user' }),
    /there is no user no-such-user/,
  ],
  [
    'a uid that no user has',
    (scripts) => ({ run: [scripts.write('run', '')], user: 4_000_000_000 }),
    /there is no user 4000000000/,
  ],
];

for (const [what, options, message] of FAULTS) {
  test(`${what} is misconfigured, for the whole sink, and check reports it without running anything`, async (t) => {
    const scripts = new Scripts(t);
    const notes = deliveryNotes();
    const { deliver, adapter } = startCommand(t, scripts, options(scripts), { notes });
    const failure = failed(await deliver());
    assert.deepEqual(
      [failure.code, failure.disposition, failure.scope],
      ['BRIDGE_COMMAND_MISCONFIGURED', 'misconfigured', 'sink'],
    );
    assert.match(failure.message, message);
    await assert.rejects(
      adapter.check(never),
      (error: BridgeError) => error.code === failure.code && message.test(error.message),
    );
    assert.ok(
      !notes.all().some(({ text }) => text.includes('"runs":1')),
      'a run that did not begin counts for nothing',
    );
  });
}

for (const [what, text] of [
  ['an empty file', ''],
  ['a script without a first line that names its interpreter', 'echo "$0" > ran'],
] as const) {
  test(`${what} is misconfigured, and no shell takes it for a script`, async (t) => {
    const scripts = new Scripts(t);
    writeFileSync(scripts.path('run'), text, { mode: 0o755 });
    const { deliver, adapter } = startCommand(t, scripts, { run: [scripts.path('run')] });
    const message = /it is neither a program of this machine nor a script whose first line is #!/;
    const failure = failed(await deliver());
    assert.equal(failure.disposition, 'misconfigured');
    assert.match(failure.message, message);
    await assert.rejects(adapter.check(never), message);
    assert.equal(scripts.read('ran'), null);
  });
}

test('check is content with a program that could run, which it does not', async (t) => {
  const scripts = new Scripts(t);
  const { adapter } = startCommand(t, scripts, { run: [scripts.write('run', ': > ran')] });
  assert.equal(await adapter.check(never), null);
  assert.equal(scripts.read('ran'), null);
});

test('a name is looked up in PATH, in its order, past what cannot be executed', async (t) => {
  const scripts = new Scripts(t);
  for (const folder of ['one', 'two', 'three']) mkdirSync(scripts.path(folder));
  writeFileSync(scripts.path('one/tool'), '', { mode: 0o644 });
  scripts.write('two/tool', 'echo two > ran');
  scripts.write('three/tool', 'echo three > ran');
  const PATH = ['one', 'two', 'three'].map((folder) => join(scripts.folder, folder)).join(':');
  const { deliver } = startCommand(t, scripts, { run: ['tool'], env: { PATH: '/nowhere' } }, { env: { PATH } });
  assert.equal(await deliver(), 'accepted');
  assert.equal(scripts.read('ran'), 'two\n');
});

test('nothing starts if its start cannot be stored, as on a full disk; a later failure to store changes nothing', async (t) => {
  const scripts = new Scripts(t);
  const full = new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  let left = 0;
  const kept = deliveryNotes();
  const write = (seq: number, text: string | null) => {
    left -= 1;
    if (left < 0) throw full;
    kept.write(seq, text);
  };
  const { deliver } = startCommand(
    t,
    scripts,
    { run: [scripts.write('run', 'echo "$BRIDGE_ATTEMPT" >> runs')] },
    { notes: { ...kept, write } },
  );
  assert.equal(await deliver(), full);
  assert.equal(scripts.read('runs'), null);
  left = 1;
  assert.equal(await deliver(), 'accepted');
  assert.notEqual(scripts.read('runs'), null);
});
