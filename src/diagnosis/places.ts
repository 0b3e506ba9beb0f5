// `store.path` and the addresses of `http` → whether a `run` could have them now.
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../errors.ts';
import { lockHolder } from '../outbox/lock.ts';
import { type Finding, fault, note } from './finding.ts';
import type { MachineProbe } from './machine.ts';

interface Places {
  /** `store.path`. */
  readonly store: string;
  /** By setting, as `http.listen`; null where it is not configured. */
  readonly addresses: Readonly<Record<string, { readonly host: string; readonly port: number } | null>>;
}

/** A running bridge of this configuration has all of them, which is no fault. */
export async function placeFindings({ store, addresses }: Places, machine: MachineProbe): Promise<readonly Finding[]> {
  const holder = lockHolder(store);
  const inUse = holder === null ? [] : [note('store', heldBy(holder))];
  const findings: Finding[] = holder === null ? [...storeFaults(store)] : inUse;
  for (const [setting, address] of Object.entries(addresses)) {
    const code = address === null || address.port === 0 ? null : await machine.listenFault(address.host, address.port);
    if (address === null || code === null) continue;
    const place = `${address.host}:${address.port}`;
    if (code === 'EADDRINUSE' && holder !== null)
      findings.push(note(setting, `${place} is taken, by that bridge if it is one of this configuration`));
    else findings.push(fault(setting, `${place}: ${REASONS[code] ?? `nobody can listen there (${code}): choose another address`}`));
  }
  return findings;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there, and no bridge has the store: end that program, or choose another port',
  EACCES: 'this user may not listen there: choose a port above 1023, or give the right to (CAP_NET_BIND_SERVICE)',
  EADDRNOTAVAIL: 'this machine has no such address: choose one that it has',
  ENOTFOUND: 'the name does not resolve: give an IP address',
};

function heldBy(holder: string): string {
  return `${holder} has it: a running bridge of this configuration, which goes on; otherwise end that one, or give store.path another folder`;
}

/** As this user: whether the store could be made or written. */
function storeFaults(store: string): readonly Finding[] {
  const folder = nearest(store);
  try {
    if (!statSync(folder).isDirectory()) return [fault('store', `${folder} is no folder: give store.path another one`)];
    accessSync(folder, constants.W_OK | constants.X_OK);
    return [];
  } catch (error) {
    const what = folder === store ? 'cannot be written' : `cannot be made in ${folder}`;
    return [
      fault(
        'store',
        `${store} ${what} by this user (${codeOf(error) ?? 'unknown error'}): give it the right, run this as the bridge's user, or name another folder`,
      ),
    ];
  }
}

/** The folder itself or, where it is missing or out of reach, the first one above it that is there. */
function nearest(folder: string): string {
  return isThere(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
