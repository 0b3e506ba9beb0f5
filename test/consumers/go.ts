// docs/receive/examples/go/ → the program, built once, or why there is no Go for it.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Command } from './maintenance.ts';

const FOLDER = join(import.meta.dirname, '../../docs/receive/examples/go');
const GO = process.env['GO'] ?? 'go';

/** For the `skip` of a test: false, or the reason. With REQUIRE_CONSUMERS the reason is an error. */
export const withoutGo: string | false = missing();

/** Builds the program. `channel` is its argument. */
export function goProgram(t: TestContext, channel: 'kafka' | 'stream' | 'webhook'): Command {
  const folder = mkdtempSync(join(tmpdir(), 'consumer-go-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const program = join(folder, 'maintenance');
  execFileSync(GO, ['build', '-mod=readonly', '-o', program, '.'], { cwd: FOLDER, stdio: 'pipe' });
  return { node: program, main: channel };
}

function missing(): string | false {
  if (spawnSync(GO, ['version']).status === 0) return false;
  const reason = `${GO} does not run: install Go 1.26 or newer (GO names another one)`;
  if (process.env['REQUIRE_CONSUMERS']) throw new Error(`${reason}; REQUIRE_CONSUMERS is set`);
  return reason;
}
