// What an oracle found wrong, in words, with the kind of fault that it counts as.
import type { Fault } from '../../part.ts';

export interface Finding {
  readonly fault: Fault;
  readonly machine: number;
  readonly atMs: number;
  readonly what: string;
}

export type Report = (fault: Fault, atMs: number, what: string) => void;
