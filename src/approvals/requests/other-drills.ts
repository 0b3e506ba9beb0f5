// A message that each bridge of a group reads → what of it is not of another bridge's drill. Pure.
import { isDrill } from '../../model/drills.ts';
import type { MessageRequests } from './message-requests.ts';

/**
 * Each bridge knows its own drills alone, from before anybody can name them: one that it does not know is another's, and what else the message
 * asks for counts. Null where nothing is left.
 */
export function withoutOtherDrills(
  { starts, holds, releases }: MessageRequests,
  isKnown: (key: string) => boolean,
): MessageRequests | null {
  const isOwn = ({ key }: { readonly key: string }) => !isDrill(key) || isKnown(key);
  const own = { starts: starts.filter(isOwn), holds: holds.filter(isOwn), releases: releases.filter(isOwn) };
  return own.starts.length + own.holds.length + own.releases.length === 0 ? null : own;
}
