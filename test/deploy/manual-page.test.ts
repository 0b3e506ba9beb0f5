// The manual page of the packages → each verb and option; mandoc and man warn of nothing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { manualPage } from '../../deploy/packages/manual-page.ts';
import { VERBS } from '../../src/verbs/verbs.ts';
import { folderOf } from '../support/folder.ts';

const isRequired = process.env['REQUIRE_SHELLS'] === '1';

async function page(t: TestContext): Promise<string> {
  const path = join(folderOf(t), 'scheduled-events-bridge.1');
  writeFileSync(path, await manualPage(VERBS, '1.2.3', new Date('2026-01-02T00:00:00Z')));
  return path;
}

/** Why it cannot be run; false if it can. */
function missing(program: string): string | false {
  return !isRequired && spawnSync(program, ['--version']).error !== undefined ? `${program} is not there` : false;
}

test('mandoc has nothing to say about it', { skip: missing('mandoc') }, async (t) => {
  const { status, stdout, stderr } = spawnSync('mandoc', ['-Tlint', '-Wwarning', await page(t)], { encoding: 'utf8' });
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
});

test('man shows each verb with its options, and warns of nothing', {
  skip: missing('man'),
}, async (t) => {
  const env = { ...process.env, MANWIDTH: '200', MANPAGER: 'cat', LC_ALL: 'C.UTF-8', MAN_KEEP_FORMATTING: '' };
  const { status, stdout, stderr } = spawnSync('man', ['--warnings', '-l', await page(t)], { encoding: 'utf8', env });
  assert.deepEqual([status, stderr], [0, '']);
  const sections = new Map(
    stdout
      .slice(stdout.indexOf('\nVERBS'))
      .split(/^ {3}(?=[a-z-]+$)/m)
      .map((section) => [section.split('\n', 1)[0], section]),
  );
  for (const [name, { load }] of Object.entries(VERBS)) {
    const section = sections.get(name) ?? '';
    assert.match(section, new RegExp(`scheduled-events-bridge ${name}`));
    for (const [option, { value = '' }] of Object.entries((await load()).options))
      assert.ok(section.includes(`--${option}${value === '' ? '' : ` ${value}`}`), `${name} --${option}`);
  }
});
