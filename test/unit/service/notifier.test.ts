// src/service/notifier.ts with a command in systemd-notify's place: order, environment, failures.
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Notifier } from '../../../src/service/notifier.ts';
import { folderOf } from '../../support/folder.ts';

/** A folder for PATH whose systemd-notify runs `script`; `lines` tells what it wrote to `$OUT`, beside it. */
function start(t: TestContext, script: string | null) {
  const folder = folderOf(t);
  const out = join(folder, 'out');
  writeFileSync(out, '');
  if (script !== null) {
    const command = join(folder, 'systemd-notify');
    writeFileSync(command, `#!/bin/sh\nOUT='${out}'\n${script}\n`);
    chmodSync(command, 0o755);
  }
  const warnings: string[] = [];
  const logger = { warn: (_: unknown, message: string) => void warnings.push(message) } as never;
  const env = { PATH: folder, NOTIFY_SOCKET: '/run/it', SECRET: 'not for children' };
  return {
    notifier: new Notifier({ env, logger }),
    warnings,
    lines: () => readFileSync(out, 'utf8').split('\n').slice(0, -1),
  };
}

test('messages are sent one at a time, unchanged, and the command gets only the environment that it needs', async (t) => {
  const { notifier, warnings, lines } = start(
    t,
    'echo "begins $*" >> "$OUT"; echo "ends $NOTIFY_SOCKET $SECRET" >> "$OUT"',
  );
  const first = notifier.send(['READY=1', 'STATUS=watching: 2 events listed']);
  const second = notifier.send(['WATCHDOG=1']);
  assert.equal(notifier.isBusy, true);
  await Promise.all([first, second]);
  assert.equal(notifier.isBusy, false);
  const ends = 'ends /run/it ';
  assert.deepEqual(lines(), ['begins READY=1 STATUS=watching: 2 events listed', ends, 'begins WATCHDOG=1', ends]);
  assert.deepEqual(warnings, []);
});

for (const [what, script] of [
  ['fails', 'exit 1'],
  ['is not there', null],
] as const) {
  test(`a command that ${what} is logged once, and blocks nothing`, async (t) => {
    const { notifier, warnings } = start(t, script);
    await notifier.send(['READY=1']);
    await notifier.send(['WATCHDOG=1']);
    assert.equal(notifier.isBusy, false);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /^systemd-notify failed/);
  });
}
