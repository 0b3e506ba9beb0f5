// The store's identity row ↔ the VM that the store belongs to.
import type { VmMetadata } from '../model/vm-metadata.ts';
import type { Deps } from '../time/clock.ts';
import type { Database, Statement } from './database.ts';
import { expectSum, sumOf } from './integrity.ts';

/** The VM that the store belongs to, and the names in its CloudEvents. */
interface StoredIdentity {
  /** Null until instance metadata is known. */
  readonly vmId: string | null;
  /** The VM's own name from the metadata service. */
  readonly name: string | null;
  /** The CloudEvents' `source`. */
  readonly source: string | null;
  /** Further data about the VM in its CloudEvents; null for none. */
  readonly vm: VmMetadata | null;
  /** 32 hex digits, created once for each store. Names the observer while the VM's name is unknown. */
  readonly observerId: string;
}

/** `vm` is JSON. `sum` is null in rows that an earlier release wrote. */
type IdentityRow = Omit<StoredIdentity, 'vm'> & { readonly vm: string | null; readonly sum: number | null };

export class IdentityTable {
  readonly #database: Database;
  readonly #random: Deps['random'];
  readonly #row: Statement<IdentityRow>;
  readonly #save: Statement;
  #current: StoredIdentity;

  constructor(database: Database, random: Deps['random']) {
    this.#database = database;
    this.#random = random;
    this.#row = database.prepare(
      'SELECT vm_id AS vmId, name, source, vm, observer_id AS observerId, sum FROM identity',
    );
    this.#save = database.prepare(
      'INSERT OR REPLACE INTO identity (id, vm_id, name, source, vm, observer_id, sum) VALUES (1, ?, ?, ?, ?, ?, ?)',
    );
    this.#current = this.#load();
  }

  /** Returns the identity on disk. */
  get current(): StoredIdentity {
    return this.#current;
  }

  /** Saves members durably. Absent ones stay unchanged. */
  save(known: Partial<Omit<StoredIdentity, 'observerId'>>): void {
    this.#write({ ...this.#current, ...known });
  }

  /** Returns the observer's id, and creates and stores it if it is missing. */
  #load(): StoredIdentity {
    const row = this.#row.get();
    if (row !== undefined) return this.#toIdentity(row);
    const observerId = Array.from({ length: 32 }, () => Math.floor(this.#random() * 16).toString(16)).join('');
    return this.#write({ vmId: null, name: null, source: null, vm: null, observerId });
  }

  /** @throws BridgeError BRIDGE_STORE_DAMAGED if the row has changed on disk */
  #toIdentity({ vmId, name, source, vm, observerId, sum }: IdentityRow): StoredIdentity {
    expectSum(this.#database, 'the identity of the VM', sum, sumOf(vmId, name, source, vm, observerId));
    return { vmId, name, source, observerId, vm: vm === null ? null : (JSON.parse(vm) as VmMetadata) };
  }

  #write(identity: StoredIdentity): StoredIdentity {
    const { vmId, name, source, vm, observerId } = identity;
    const row = [vmId, name, source, vm && JSON.stringify(vm), observerId];
    this.#save.run(...row, sumOf(...row));
    this.#current = identity;
    return identity;
  }
}
