// A command and a folder → its system calls that change files in it, in order, as strace sees them.
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** A system call that has ended without an error. */
export interface Call {
  readonly name: string;
  /** Texts as bytes, all else as strace prints it: `O_RDWR|O_CREAT`, `22</path>`. */
  readonly args: readonly (Buffer | string)[];
  readonly result: number;
}

const TRACED =
  'openat,open,creat,write,pwrite64,writev,pwritev,pwritev2,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,ftruncate,truncate,fsync,fdatasync,link,linkat,symlink,symlinkat,fallocate,copy_file_range,sendfile';
/** Longer texts would be cut. */
const LONGEST_TEXT = 16 * 1024 * 1024;

/** Returns why nothing can be recorded here, or null. */
export function withoutStrace(): string | null {
  if (process.platform !== 'linux') return 'strace is a program of Linux';
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'strace is missing, or may not trace (apt-get install strace)';
  }
}

/** Runs a script with this Node to its end. @throws with its standard error if it fails */
export async function traced(script: string, args: readonly string[], report: string): Promise<readonly Call[]> {
  const options = ['-f', '--seccomp-bpf', '-y', '-xx', '-s', String(LONGEST_TEXT), '-e', `trace=${TRACED}`];
  const command = [...options, '-e', 'signal=none', '-o', report, process.execPath, '--no-warnings', script, ...args];
  await promisify(execFile)('strace', command, { env: { ...process.env, ...ONE_THREAD }, maxBuffer: LONGEST_TEXT });
  return callsIn(readFileSync(report, 'latin1'));
}

/** Calls of the thread pool in the order in which they were made, and none by io_uring, which strace does not see. */
export const ONE_THREAD = { UV_THREADPOOL_SIZE: '1', UV_USE_IO_URING: '0', NODE_TEST_CONTEXT: undefined };

/** Joins the two lines of a call during which another thread made one. A call counts when it has ended. */
function callsIn(report: string): readonly Call[] {
  const begun = new Map<string, string>();
  return report.split('\n').flatMap((line) => {
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (rest.endsWith('<unfinished ...>')) {
      begun.set(thread, rest.slice(0, -'<unfinished ...>'.length));
      return [];
    }
    const resumed = /^<\.\.\. \w+ resumed>/.exec(rest);
    return callIn(resumed ? `${begun.get(thread) ?? ''}${rest.slice(resumed[0].length)}` : rest);
  });
}

function callIn(text: string): Call[] {
  const [, name, given, result] = /^(\w+)\((.*)\) += (-?\d+)/.exec(text) ?? [];
  if (name === undefined || given === undefined || Number(result) < 0) return [];
  const args = given.match(/"[^"]*"|[^",[{]+|[[{][^\]}]*[\]}]/g) ?? [];
  return [
    {
      name,
      args: args
        .map((each) => each.trim())
        .filter((each) => each !== '')
        .map(argument),
      result: Number(result),
    },
  ];
}

function argument(text: string): Buffer | string {
  if (text.startsWith('"')) return Buffer.from(text.slice(1, -1).replaceAll('\\x', ''), 'hex');
  return text.replaceAll(/(?:\\x[0-9a-f]{2})+/g, (hex) => Buffer.from(hex.replaceAll('\\x', ''), 'hex').toString());
}
