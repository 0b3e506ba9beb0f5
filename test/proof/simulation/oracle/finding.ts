// What an oracle found wrong, in words, with the kind of fault that it counts as.
import type { Fault } from '../../part.ts';

/** What is late is a problem of the part; the others have counts of their own. */
export type FaultFound = Fault | 'late';

export interface Finding {
  readonly fault: FaultFound;
  readonly machine: number;
  readonly atMs: number;
  readonly what: string;
}

export type Report = (fault: FaultFound, atMs: number, what: string) => void;
