// /proc/self/status → whether this process may run programs as another user, and end them.
import { readFile } from 'node:fs/promises';
import type { Account } from './accounts.ts';

/** What this process may. */
export interface OwnRights {
  /** Its effective user; undefined where there are no such numbers. */
  readonly uid: number | undefined;
  /** Its effective capabilities, of capabilities(7); none where they cannot be told. */
  readonly capabilities: bigint;
}

/** CAP_SETGID and CAP_SETUID. */
const SWITCHES = (1n << 6n) | (1n << 7n);
const CAP_KILL = 1n << 5n;

/** Capabilities are a matter of Linux: elsewhere only root may. */
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

/** Who may begin a program as another user may not always signal it: no limit and no stop would end it. */
export function mayEnd({ uid }: Pick<Account, 'uid'>, own: OwnRights): boolean {
  return isOneself(uid, own) || (own.capabilities & CAP_KILL) === CAP_KILL;
}

function isOneself(uid: number, own: OwnRights): boolean {
  return own.uid === 0 || own.uid === uid;
}
