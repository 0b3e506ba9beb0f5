// A user's name or uid → its uid, primary group and home, as this machine knows it.
import { readFile } from 'node:fs/promises';

export interface Account {
  readonly name: string;
  readonly uid: number;
  /** The gid of its primary group. */
  readonly gid: number;
  readonly home: string;
}

/** The places in which the machine stores its users. */
export interface AccountSources {
  /** Returns the text of /etc/passwd. */
  readonly passwd: () => Promise<string>;
  /** Returns the line of a user from another directory, in the format of /etc/passwd, or null. */
  readonly directory: (user: string) => Promise<string | null>;
}

const DIRECTORY_LIMIT_MS = 5_000;

/**
 * Returns the account of a user, or null if there is none.
 * @throws the error of the file system if /etc/passwd cannot be read
 */
export async function findAccount(user: string | number, sources: AccountSources): Promise<Account | null> {
  const lines = (await sources.passwd()).split('\n');
  const local = lines.map(parseAccount).find((account) => account !== null && (account.name === user || account.uid === user));
  if (local) return local;
  const line = await sources.directory(String(user));
  const found = line === null ? null : parseAccount(line);
  return found !== null && (found.name === user || found.uid === user) ? found : null;
}

/** Reads /etc/passwd, then the sources in nsswitch.conf, such as LDAP (`getent`), or the directory of macOS (`id -P`). */
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

/** On macOS, a line has three more fields before the last three. */
function parseAccount(line: string): Account | null {
  const fields = line.split(':');
  const [name = '', , uid = '', gid = ''] = fields;
  const home = fields.at(-2) ?? '';
  if (fields.length < 7 || name === '' || !/^\d+$/.test(uid) || !/^\d+$/.test(gid)) return null;
  return { name, uid: Number(uid), gid: Number(gid), home };
}
