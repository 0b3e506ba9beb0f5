// The stored hold of everything → as operators see it, with times in RFC 3339. Pure.
import { toRfc3339 } from '../formats/dates.ts';
import type { HoldOfAll } from './approvals.ts';

/** A hold of everything: while it stands, the bridge submits nothing. */
export interface HeldAll {
  /** The name of the admin who set it. */
  readonly by: string;
  /** RFC 3339: when this reason was given. */
  readonly at: string;
  readonly reason: string | null;
}

/** Returns null if no hold of everything stands. */
export function heldAllOf(holdOfAll: HoldOfAll | null): HeldAll | null {
  if (holdOfAll === null) return null;
  const { by, at, reason } = holdOfAll;
  return { by, at: toRfc3339(at.wallMs), reason };
}
