// Whether this machine has the parts of systemd that a test needs.
import { spawnSync } from 'node:child_process';

/** For the `skip` of a test: false, or the reason. @throws instead with REQUIRE_SYSTEMD, as in CI */
export function skipWithout(...commands: readonly string[]): string | false {
  const missing = commands.filter((command) => spawnSync(command, ['--version']).status !== 0);
  if (missing.length === 0) return false;
  if (process.env['REQUIRE_SYSTEMD']) throw new Error(`REQUIRE_SYSTEMD is set, and there is no ${missing.join(', ')}`);
  return `there is no ${missing.join(', ')}`;
}
