// The checks of the part `files`, by name, each with the processes that share its long profile.
import type { Check } from './check.ts';
import { failEachCall } from './disk-errors.ts';
import { proveFileSink } from './file-sink-crashes.ts';
import { proveFileState } from './file-state-crashes.ts';
import { proveRunNotes } from './run-notes-crashes.ts';
import { proveSetAside } from './set-aside-crashes.ts';
import { proveStore } from './store-crashes.ts';
import { damageLog, flipPages } from './store-damage.ts';

interface NamedCheck {
  readonly check: Check;
  /** In the long profile. The short one has one. */
  readonly shares: number;
}

/** The slowest first. */
export const CHECKS: Readonly<Record<string, NamedCheck>> = {
  'an I/O error at a call on the store': { check: failEachCall, shares: 16 },
  'crashes of the store': { check: proveStore, shares: 16 },
  'flipped bits in pages': { check: flipPages, shares: 4 },
  'a log that is cut or has flipped bits': { check: damageLog, shares: 4 },
  'crashes of a store that is set aside': { check: proveSetAside(''), shares: 4 },
  'crashes of a store that is set aside beside a verb': { check: proveSetAside('with a verb'), shares: 4 },
  'crashes of notes of command runs': { check: proveRunNotes, shares: 2 },
  'crashes of a file sink without rotation': { check: proveFileSink(0), shares: 1 },
  'crashes of a file sink that keeps 100 files': { check: proveFileSink(100), shares: 1 },
  'crashes of a file sink that keeps 2 files': { check: proveFileSink(2), shares: 1 },
  'crashes of a file sink that keeps 1 file': { check: proveFileSink(1), shares: 1 },
  "crashes of a consumer's file state": { check: proveFileState, shares: 1 },
};
