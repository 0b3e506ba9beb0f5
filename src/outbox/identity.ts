// The store's identity row ↔ the VM that the store belongs to.
import type { VmMetadata } from '../model/vm-metadata.ts';
import type { Deps } from '../time/clock.ts';
import type { Database, Statement } from './database.ts';

/** Which VM the store belongs to, and by what names its CloudEvents go. */
export interface StoredIdentity {
  /** Null until instance metadata has named it. */
  readonly vmId: string | null;
  /** The VM's own name as the metadata service gives it. */
  readonly name: string | null;
  /** The CloudEvents' `source`. */
  readonly source: string | null;
  /** What its CloudEvents tell of the VM besides; null where that is nothing. */
  readonly vm: VmMetadata | null;
  /** 32 hex digits, made once for each store: names the observer while the VM's name is unknown. */
  readonly observerId: string;
}

interface IdentityRow {
  readonly vm_id: string | null;
  readonly name: string | null;
  readonly source: string | null;
  readonly vm: string | null;
  readonly observer_id: string;
}

export class IdentityTable {
  readonly #random: Deps['random'];
  readonly #row: Statement<IdentityRow>;
  readonly #save: Statement;
  #current: StoredIdentity;

  constructor(database: Database, random: Deps['random']) {
    this.#random = random;
    this.#row = database.prepare('SELECT vm_id, name, source, vm, observer_id FROM identity');
    this.#save = database.prepare('INSERT OR REPLACE INTO identity (id, vm_id, name, source, vm, observer_id) VALUES (1, ?, ?, ?, ?, ?)');
    this.#current = this.#load();
  }

  /** As it stands on disk. */
  get current(): StoredIdentity {
    return this.#current;
  }

  /** Durable. What is not named stays. */
  save(known: Partial<Omit<StoredIdentity, 'observerId'>>): void {
    this.#write({ ...this.#current, ...known });
  }

  /** Makes the observer's id where there is none yet, which writes. */
  #load(): StoredIdentity {
    const row = this.#row.get();
    if (row !== undefined) return identityOf(row);
    return this.#write({ vmId: null, name: null, source: null, vm: null, observerId: randomHex(this.#random) });
  }

  #write(identity: StoredIdentity): StoredIdentity {
    const { vmId, name, source, vm, observerId } = identity;
    this.#save.run(vmId, name, source, vm && JSON.stringify(vm), observerId);
    this.#current = identity;
    return identity;
  }
}

function identityOf({ vm_id: vmId, name, source, vm, observer_id: observerId }: IdentityRow): StoredIdentity {
  return { vmId, name, source, vm: vm === null ? null : (JSON.parse(vm) as VmMetadata), observerId };
}

function randomHex(random: Deps['random']): string {
  return Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
}
