// A message that each bridge of a group reads → its requests without other bridges' drills. Pure.
import { isDrill } from '../../model/drills.ts';
import type { MessageRequests } from './message-requests.ts';

/**
 * Removes requests for drills of other bridges. A bridge knows its own drills before anyone can name them, so an unknown drill belongs to
 * another bridge. Returns null if no request is left.
 */
export function withoutOtherDrills(
  { starts, holds, releases }: MessageRequests,
  isKnown: (key: string) => boolean,
): MessageRequests | null {
  const isOwn = ({ key }: { readonly key: string }) => !isDrill(key) || isKnown(key);
  const own = { starts: starts.filter(isOwn), holds: holds.filter(isOwn), releases: releases.filter(isOwn) };
  return own.starts.length + own.holds.length + own.releases.length === 0 ? null : own;
}
