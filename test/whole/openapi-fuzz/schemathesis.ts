// A URL of an OpenAPI document → schemathesis on it, where installed: how it ended, what it said.
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const PROGRAM = process.env['SCHEMATHESIS'] ?? onPath('schemathesis');

/** For the `skip` of a test: false, or the reason. With REQUIRE_SCHEMATHESIS such a test fails instead. */
export const withoutSchemathesis: string | false =
  PROGRAM === null &&
  !process.env['REQUIRE_SCHEMATHESIS'] &&
  'there is no schemathesis: install it by pip, or name the program in SCHEMATHESIS';

export interface Verdict {
  /** 0: nothing found. */
  readonly code: number | string | null;
  readonly output: string;
}

/** Half a minute of a processor, which a busy machine does not have at once. */
export const PATIENCE_MS = 300_000;

/** Runs in `directory`, which it may write to. */
export function schemathesis(args: readonly string[], directory: string): Promise<Verdict> {
  if (PROGRAM === null) throw new Error('REQUIRE_SCHEMATHESIS is set, and there is no schemathesis on PATH');
  const config = ['--config-file', join(import.meta.dirname, 'schemathesis.toml'), '--no-color'];
  const env = {
    ...process.env,
    SCHEMATHESIS_HOOKS: join(import.meta.dirname, 'hooks.py'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const limits = { timeout: PATIENCE_MS, maxBuffer: 64 << 20 };
  return new Promise((resolve) => {
    execFile(PROGRAM, [...config, 'run', ...args], { cwd: directory, env, ...limits }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? error.signal ?? null), output: `${stdout}${stderr}` }),
    );
  });
}

function onPath(name: string): string | null {
  const candidates = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name));
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
