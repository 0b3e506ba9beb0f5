// /proc/self/status → whether this process may run programs as another user, and end them.
import { readFile } from 'node:fs/promises';
import type { Account } from './accounts.ts';

/** The rights of this process. */
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
 * A process that may start a program as another user may lack the right to signal it. Then neither a limit nor a stop could end the
 * program.
 */
export function mayEnd({ uid }: Pick<Account, 'uid'>, own: OwnRights): boolean {
  return isOneself(uid, own) || (own.capabilities & CAP_KILL) === CAP_KILL;
}

function isOneself(uid: number, own: OwnRights): boolean {
  return own.uid === 0 || own.uid === uid;
}
