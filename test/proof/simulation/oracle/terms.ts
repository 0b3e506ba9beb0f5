// A rule, an event and a moment → whether its window is open, or its deadline has come.
import type { ApprovalCase } from './approval-case.ts';
import { type ListedEvent, notBeforeOf } from './listed-event.ts';
import type { Ruling } from './policy.ts';
import { openingAt, opensWithin } from './windows.ts';

export function isOpen({ during }: Ruling, wallMs: number): boolean {
  return during === null || during.some((window) => openingAt(window, wallMs) !== null);
}

export function isAhead(event: ListedEvent, wallMs: number): boolean {
  const notBefore = notBeforeOf(event);
  return notBefore === null || wallMs < Date.parse(notBefore);
}

/** Since when a window has been open that is open now, in virtual time; null if none is, or NotBefore has passed. */
export function openSince(one: ApprovalCase, { during }: Ruling, atMs: number, wallMs: number): number | null {
  const openings = (during ?? []).flatMap((window) => openingAt(window, wallMs) ?? []);
  if (openings.length === 0) return null;
  const fromMs = Math.min(...openings.map((opening) => opening.fromMs));
  const notBefore = notBeforeOf(one.event);
  if (notBefore !== null && fromMs >= Date.parse(notBefore)) return null;
  return Math.max(one.firstMs, atMs - (wallMs - fromMs));
}

export function isDue(
  { then: verdict, approvedBeforeMs, during, otherwiseWaits }: Ruling,
  event: ListedEvent,
  wallMs: number,
): boolean {
  const notBefore = notBeforeOf(event);
  const endMs = notBefore === null ? wallMs : Date.parse(notBefore);
  const isLeftToDeadline = otherwiseWaits && !(during ?? []).some((window) => opensWithin(window, wallMs, endMs));
  return (
    (verdict === 'wait' || isLeftToDeadline) &&
    approvedBeforeMs !== null &&
    notBefore !== null &&
    wallMs >= Date.parse(notBefore) - approvedBeforeMs
  );
}
