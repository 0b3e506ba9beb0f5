// A locale and a time zone of the machine → the templates' filter `date` writes the same.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

test('date writes the same in every locale and time zone of the machine', () => {
  const script = `import { formatDate } from '${new URL('../../../adapters/webhook/template/template-filters.ts', import.meta.url)}'; process.stdout.write(formatDate('2022-03-27T01:30:00Z', '%a %e %B %R'));`;
  for (const env of [
    { TZ: 'Asia/Kathmandu', LC_ALL: 'de_DE.UTF-8' },
    { TZ: 'America/St_Johns', LANG: 'ar_EG.UTF-8' },
  ]) {
    const shown = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    });
    assert.equal(shown, 'Sun 27 March 01:30');
  }
});
