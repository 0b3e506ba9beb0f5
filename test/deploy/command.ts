// A command of the system, run to its end → what it printed.
import { spawnSync } from 'node:child_process';

/** @throws with all that it said where it fails */
export function command(
  name: string,
  args: readonly string[],
  cwd?: string,
  env?: Readonly<Record<string, string>>,
): string {
  const { status, stdout, stderr, error } = spawnSync(name, args, {
    cwd,
    env: env ?? process.env,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (status !== 0)
    throw new Error(`${name} ${args.join(' ')} (${error?.message ?? `exit code ${status}`}): ${stdout}${stderr}`);
  return stdout;
}
