// The contract of a fault: how it begins and ends, and what a bridge may do under it.
import type { Chance } from '../simulation/chance.ts';
import type { World } from './world.ts';

/** What a fault is done to; lateness is judged if only sinks have faults. */
export type FaultKind = 'process' | 'sink' | 'broker' | 'metadata' | 'disk' | 'machine';

export interface Fault {
  /** As it is written in `--only NAME+NAME`. */
  readonly name: string;
  readonly kind: FaultKind;
  /** A bridge may end by itself; a service manager starts it again. */
  readonly mayEnd?: boolean;
  /** A receipt may not be stored, so that a delivery or a StartRequest comes again. */
  readonly losesReceipts?: boolean;
  /** Why it cannot run here, or false. */
  readonly missing?: () => string | false;
  /** Before the first process starts. */
  readonly prepare?: (world: World, chance: Chance) => unknown;
  readonly begin: (world: World, chance: Chance) => unknown;
  /**
   * Whether the far sides, the log, strace or the process state show that a bridge felt it. Called again and again after
   * `begin` until it is true; `end` waits for that, but not for ever.
   */
  readonly hasBitten: (world: World) => boolean | Promise<boolean>;
  /** Undoes `begin`. Absent: nothing is left to undo. */
  readonly end?: (world: World) => unknown;
}
