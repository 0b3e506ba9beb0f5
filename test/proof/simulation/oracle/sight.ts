// The good documents of one machine → when it must report that it is blind, and sees again.
import type { Observation } from '../observation.ts';
import { firstArrivals } from './changes-of-machine.ts';
import type { Json } from './expected-cloud-event.ts';
import type { Report } from './finding.ts';
import { madeAt } from './made-at.ts';

const BLIND_MS = 60_000;
/** Without any good document yet. */
const FIRST_MS = 130_000;
/** A poll that fails, or a timer, tells it: at most so long after the limit. */
const TOLD_MS = 35_000;

interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
  /** How long a process watched this gap without standing still or failing to store. */
  mustMs: number;
  /** How long a process could have watched it. */
  mayMs: number;
}

/** `blind` once for each gap that a process watched for a minute, then `restored`, and no others. */
export function judgeSight(seen: readonly Observation[], report: Report): void {
  const told = firstArrivals(seen, 'audit')
    .map(({ id, atMs, event }) => ({ id, atMs, event, name: String(event['type']).split('.').at(-2) ?? '' }))
    .filter(({ event }) => String(event['type']).includes('.source.'));
  const gaps = gapsOf(seen);
  let next = 0;
  for (const [index, gap] of gaps.entries()) {
    const limitMs = limitOf(gap);
    const [blind, restored] = told.slice(next, next + 2);
    const isTold = blind?.name === 'blind' && gapOf(madeAt(blind, seen), gaps.slice(index)) === gap;
    if (isTold) {
      next += restored?.name === 'restored' ? 2 : 1;
      if (gap.mayMs < limitMs) report('invented', blind.atMs, `${blind.id}: no process watched for ${limitMs} ms`);
      if (restored?.name !== 'restored') report('lost', gap.toMs, `${blind.id} was never followed by restored`);
      else if ((restored.event['data'] as Json)['since'] !== (blind.event['data'] as Json)['since'])
        report('altered', restored.atMs, `${restored.id} has another since than blind`);
    } else if (mustBeTold(gap)) report('lost', gap.toMs, `no source.blind between ${gap.fromMs} and ${gap.toMs} ms`);
  }
  for (const { id, atMs } of told.slice(next)) report('invented', atMs, `${id} belongs to no gap between documents`);
}

function limitOf({ fromMs }: Gap): number {
  return fromMs < 0 ? FIRST_MS : BLIND_MS;
}

function mustBeTold(gap: Gap): boolean {
  return gap.mustMs >= limitOf(gap) + TOLD_MS;
}

/** The gap in which one of these times lies: of several one that must be told, else one that may be, else the first. */
function gapOf(times: readonly number[], gaps: readonly Gap[]): Gap | undefined {
  const possible = gaps.filter(({ fromMs, toMs }) => times.some((madeMs) => madeMs >= fromMs && madeMs <= toMs));
  return possible.find(mustBeTold) ?? possible.find((gap) => gap.mayMs >= limitOf(gap)) ?? possible[0];
}

/** Between two good documents of whatever process; the first one begins before the first. */
function gapsOf(seen: readonly Observation[]): readonly Gap[] {
  const gaps: Gap[] = [];
  let gap: Gap = { fromMs: -1, toMs: 0, mustMs: 0, mayMs: 0 };
  let watchedMs: number | null = null;
  let spoiledMs = -1;
  const close = (atMs: number) => {
    if (watchedMs === null) return;
    gap.mayMs = Math.max(gap.mayMs, atMs - watchedMs);
    gap.mustMs = Math.max(gap.mustMs, atMs - Math.max(watchedMs, spoiledMs));
  };
  for (const each of seen) {
    if (each.kind === 'begun') watchedMs = each.atMs;
    else if (each.kind === 'gone') {
      close(each.atMs);
      watchedMs = null;
    } else if (each.kind === 'thawed' || each.kind === 'commit-failed' || each.kind === 'frozen') {
      if (watchedMs !== null) gap.mustMs = Math.max(gap.mustMs, each.atMs - Math.max(watchedMs, spoiledMs));
      spoiledMs = each.atMs;
    } else if (each.kind === 'document' && each.text !== null) {
      close(each.atMs);
      gaps.push({ ...gap, toMs: each.atMs });
      gap = { fromMs: each.atMs, toMs: 0, mustMs: 0, mayMs: 0 };
      watchedMs = each.atMs;
    }
  }
  return gaps.filter(({ mayMs, fromMs }) => mayMs > 0 || fromMs < 0);
}
