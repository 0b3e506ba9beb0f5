// A user's name or uid → its uid, primary group and home, as this machine knows it.
import { readFile } from 'node:fs/promises';

export interface Account {
  readonly name: string;
  readonly uid: number;
  /** Of its primary group. */
  readonly gid: number;
  readonly home: string;
}

/** What is asked of the machine. */
export interface AccountSources {
  /** The text of /etc/passwd. */
  readonly passwd: () => Promise<string>;
  /** A line as in /etc/passwd from wherever else users are kept; null where it knows none. */
  readonly directory: (user: string) => Promise<string | null>;
}

const DIRECTORY_LIMIT_MS = 5_000;

/** @returns null where there is no such user @throws what the file system says where /etc/passwd cannot be read */
export async function findAccount(user: string | number, sources: AccountSources): Promise<Account | null> {
  const lines = (await sources.passwd()).split('\n');
  const local = lines.map(parseAccount).find((account) => account !== null && (account.name === user || account.uid === user));
  if (local) return local;
  const line = await sources.directory(String(user));
  const found = line === null ? null : parseAccount(line);
  return found !== null && (found.name === user || found.uid === user) ? found : null;
}

/** /etc/passwd, then what nsswitch.conf names, as LDAP (`getent`), or the directory of macOS (`id -P`). */
export function accountSources(platform: NodeJS.Platform): AccountSources {
  return {
    passwd: () => readFile('/etc/passwd', 'utf8'),
    directory: async (user) => {
      const { execFile } = await import('node:child_process');
      const [file, args] = platform === 'darwin' ? ['id', ['-P', user]] : ['getent', ['passwd', user]];
      return new Promise((resolve) => {
        execFile(file, args, { timeout: DIRECTORY_LIMIT_MS }, (error, stdout) => resolve(error ? null : stdout.trim()));
      });
    },
  };
}

/** That of macOS has three fields more before the last three. */
function parseAccount(line: string): Account | null {
  const fields = line.split(':');
  const [name = '', , uid = '', gid = ''] = fields;
  const home = fields.at(-2) ?? '';
  if (fields.length < 7 || name === '' || !/^\d+$/.test(uid) || !/^\d+$/.test(gid)) return null;
  return { name, uid: Number(uid), gid: Number(gid), home };
}
