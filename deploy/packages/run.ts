// A command and its arguments → its output, or an error with its standard error.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** @throws with standard error if the command fails or does not exist */
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, args, {
      ...options,
      env: { ...process.env, ...options.env },
      maxBuffer: 2 ** 26,
    });
    return stdout;
  } catch (error) {
    const { stderr = '', message } = error as { stderr?: string; message: string };
    throw new Error(`${command} ${args.join(' ')}: ${stderr.trim() || message}`, { cause: error });
  }
}
