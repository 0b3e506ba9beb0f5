// A user's name or uid → its account, and whether this process may run and end its programs.
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
  const local = lines
    .map(parseAccount)
    .find((account) => account !== null && (account.name === user || account.uid === user));
  if (local) return local;
  const line = await sources.directory(String(user));
  const found = line === null ? null : parseAccount(line);
  return found !== null && (found.name === user || found.uid === user) ? found : null;
}

/**
 * Reads /etc/passwd, then the sources in nsswitch.conf, such as LDAP (`getent`), or the directory of macOS (`id -P`).
 */
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

export interface OwnRights {
  /** Its effective uid; undefined if the platform has no uids. */
  readonly uid: number | undefined;
  /** Its effective capabilities (capabilities(7)); none if they cannot be read. */
  readonly capabilities: bigint;
}

/** CAP_SETGID and CAP_SETUID. */
const SWITCHES = (1n << 6n) | (1n << 7n);
const CAP_KILL = 1n << 5n;

/** Only Linux has capabilities. On other platforms, the process must be root. */
export async function ownRights(platform: NodeJS.Platform): Promise<OwnRights> {
  const status = platform === 'linux' ? await readFile('/proc/self/status', 'utf8').catch(() => '') : '';
  return { uid: process.geteuid?.(), capabilities: capabilitiesOf(status) };
}

/** @param status the text of /proc/self/status */
export function capabilitiesOf(status: string): bigint {
  return BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
}

export function maySwitchTo({ uid }: Pick<Account, 'uid'>, own: OwnRights): boolean {
  return isOneself(uid, own) || (own.capabilities & SWITCHES) === SWITCHES;
}

/**
 * A process that may start a program as another user may lack the right to signal it. Then neither a limit nor a stop
 * could end the program.
 */
export function mayEnd({ uid }: Pick<Account, 'uid'>, own: OwnRights): boolean {
  return isOneself(uid, own) || (own.capabilities & CAP_KILL) === CAP_KILL;
}

function isOneself(uid: number, own: OwnRights): boolean {
  return own.uid === 0 || own.uid === uid;
}
