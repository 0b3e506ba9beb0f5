// `store.path` and the addresses of `http` → findings: whether `run` could use them now.
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { BridgeError, codeOf } from '../errors.ts';
import { nameAdvice } from '../net/network-codes.ts';
import { checkFolder } from '../outbox/disk/private-folder.ts';
import { lockHolder } from '../outbox/lock.ts';
import { type Finding, fault, note } from './finding.ts';
import type { MachineProbe } from './machine.ts';

interface Places {
  /** `store.path`. */
  readonly store: string;
  /** By setting, such as `http.listen`; null if not configured. */
  readonly addresses: Readonly<Record<string, { readonly host: string; readonly port: number } | null>>;
}

/** If a running bridge of this configuration uses them, that is not a fault. */
export async function placeFindings({ store, addresses }: Places, machine: MachineProbe): Promise<readonly Finding[]> {
  const holder = lockHolder(store);
  const findings: Finding[] = holder === null ? [] : [note('store', heldBy(holder))];
  findings.push(...storeFaults(store, machine));
  for (const [setting, address] of Object.entries(addresses)) {
    const code = address === null || address.port === 0 ? null : await machine.listenFault(address.host, address.port);
    if (address === null || code === null) continue;
    const place = `${address.host}:${address.port}`;
    if (code === 'EADDRINUSE' && holder !== null)
      findings.push(note(setting, `${place} is in use, by that bridge if it uses this configuration`));
    else
      findings.push(
        fault(
          setting,
          `${place}: ${REASONS[code] ?? nameAdvice(code, undefined, address.host) ?? `no program can listen there (${code}): choose another address`}`,
        ),
      );
  }
  return findings;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there, and no bridge uses the store: stop that program, or choose another port',
  EACCES: 'this user may not listen there: choose a port above 1023, or grant CAP_NET_BIND_SERVICE',
  EADDRNOTAVAIL: 'this machine does not have this address: choose one of its own',
};

function heldBy(holder: string): string {
  return `${holder} has it: nothing to do if that is the running bridge of this configuration; otherwise stop it, or set store.path to another folder`;
}

/** Less free space than this is a full disk: a new store takes more, and one event may. */
const NEEDED_BYTES = 1024 * 1024;

/** Checks if this user can create the store, or write to it, and if there is room for it. */
function storeFaults(store: string, machine: MachineProbe): readonly Finding[] {
  const unsafe = unsafeStore(store);
  if (unsafe !== null) return [fault('store', unsafe)];
  const folder = nearest(store);
  const faults = folderFaults(store, folder);
  const freeBytes = faults.length > 0 ? null : machine.freeBytes(folder);
  if (freeBytes === null || freeBytes >= NEEDED_BYTES) return faults;
  const message = `the disk of ${store} is full (${freeBytes} bytes are free): nothing can be stored, and no CloudEvent is sent. Free some space`;
  return [fault('store', message)];
}

/** Returns why `run` refuses the folder of the store, because other users could change it; null if it does not. */
export function unsafeStore(store: string): string | null {
  try {
    checkFolder(store);
    return null;
  } catch (error) {
    // Others are faults of access, which `run` reports too.
    return error instanceof BridgeError && error.code === 'BRIDGE_STORE_UNSAFE' ? error.message : null;
  }
}

function folderFaults(store: string, folder: string): readonly Finding[] {
  try {
    if (!statSync(folder).isDirectory())
      return [fault('store', `${folder} is not a folder: set store.path to another one`)];
    accessSync(folder, constants.W_OK | constants.X_OK);
    return [];
  } catch (error) {
    const what = folder === store ? 'cannot be written' : `cannot be created in ${folder}`;
    return [
      fault(
        'store',
        `${store} ${what} by this user (${codeOf(error) ?? 'unknown error'}): grant the right, run this as the bridge's user, or use another folder`,
      ),
    ];
  }
}

/** Returns the folder or, if it does not exist or is not accessible, the nearest existing folder above it. */
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
