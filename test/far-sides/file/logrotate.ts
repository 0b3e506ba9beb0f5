// deploy/logrotate's file → logrotate itself, run on a folder of the test's own as its timer would.
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SHIPPED = join(import.meta.dirname, '../../../deploy/logrotate/scheduled-events-bridge');

/** For the `skip` of a test: false, or the reason. @throws instead with REQUIRE_LOGROTATE, as in CI */
export const withoutLogrotate: string | false = absence();

function absence(): string | false {
  // It says its version on standard error, and ends with 0.
  if (spawnSync('logrotate', ['--version']).status === 0) return false;
  if (process.env['REQUIRE_LOGROTATE']) throw new Error('REQUIRE_LOGROTATE is set, and there is no logrotate');
  return 'there is no logrotate: install the package of that name';
}

export interface Logrotate {
  /** Rotates now, whatever the size. */
  rotate(): Promise<void>;
}

/** `instead`: directives in place of some of the shipped ones. */
export function logrotateIn(folder: string, logs: string, instead: Readonly<Record<string, string>> = {}): Logrotate {
  const [config, state] = [join(folder, 'logrotate.conf'), join(folder, 'logrotate.state')];
  const shipped = readFileSync(SHIPPED, 'utf8').replace('/var/log/scheduled-events-bridge', logs);
  const changed = Object.entries(instead).reduce(
    (text, [from, to]) => text.replace(new RegExp(`^ {4}${from}$`, 'm'), `    ${to}`),
    shipped,
  );
  writeFileSync(config, changed, { mode: 0o644 });
  const run = promisify(execFile);
  return {
    rotate: async () => {
      await run('logrotate', ['--force', '--state', state, config]);
    },
  };
}
