// A sink's `filter` and `publish.resources` → whether a change goes out (contract, section 2).
import picomatch from 'picomatch';
import { changeName } from '../change-name.ts';
import { names } from '../content.ts';
import type { Change, ScheduledEvent } from '../model.ts';

/** All that are given must match. */
export interface SinkFilter {
  /** CloudEvent types without prefix and version, exactly: `scheduled`, `approval.failed`, `source.blind`. */
  readonly changes?: readonly string[] | undefined;
  /** EventTypes, without case. */
  readonly impacts?: readonly string[] | undefined;
  /** EventSources, without case. */
  readonly initiators?: readonly string[] | undefined;
  /** Globs, without case, none of them empty; one name in `Resources` that matches one of them is enough. */
  readonly resources?: readonly string[] | undefined;
  /** Time left until NotBefore, strictly above and below; 0 where it has passed or is not given. */
  readonly notice?: { readonly aboveMs?: number | undefined; readonly belowMs?: number | undefined } | undefined;
}

export interface FilterFacts {
  /** Whether the sink was sent a change of the same occurrence before: then `changes` alone can keep this one from it. */
  readonly sentBefore: boolean;
  /** Wall time. */
  readonly nowMs: number;
}

/** A filter made ready. */
export type Wants = (change: Change, facts: FilterFacts) => boolean;

/**
 * Makes a filter ready to be asked often. `source.*` are judged by `changes` alone, approvals by their event: one for an event that nobody
 * knows passes where the filter asks nothing of events.
 */
export function compileFilter(filter: SinkFilter): Wants {
  const changes = filter.changes && new Set(filter.changes);
  const wantsEvent = compileEventFilter(filter);
  return (change, { sentBefore, nowMs }) => {
    if (changes && !changes.has(changeName(change))) return false;
    if (change.kind === 'source' || sentBefore) return true;
    return change.event === null ? asksNothing(filter) : wantsEvent(change.event, nowMs);
  };
}

function asksNothing({ impacts, initiators, resources, notice }: SinkFilter): boolean {
  return [impacts, initiators, resources, notice?.aboveMs, notice?.belowMs].every((condition) => condition === undefined);
}

/**
 * `publish.resources`: `own` lets pass the events that name this VM, without case, or named it earlier in this occurrence (`namedBefore`);
 * all of them while the VM's own name is unknown; `source.*` always.
 */
export function publishes(
  mode: 'all' | 'own',
  change: Change,
  { ownName, namedBefore }: { readonly ownName: string | null; readonly namedBefore: boolean },
): boolean {
  if (mode === 'all' || change.kind === 'source' || ownName === null || namedBefore) return true;
  return change.event !== null && names(change.event, ownName);
}

function compileEventFilter({ impacts, initiators, resources, notice }: SinkFilter): (event: ScheduledEvent, nowMs: number) => boolean {
  const isImpact = oneOf(impacts);
  const isInitiator = oneOf(initiators);
  const isResource = resources ? picomatch([...resources], { nocase: true, dot: true, bash: true }) : null;
  const { aboveMs = Number.NEGATIVE_INFINITY, belowMs = Number.POSITIVE_INFINITY } = notice ?? {};
  return (event, nowMs) => {
    const leftMs = noticeMs(event, nowMs);
    if (!isImpact(event.eventType) || !isInitiator(event.eventSource) || leftMs <= aboveMs || leftMs >= belowMs) return false;
    return !isResource || event.resources.some((name) => isResource(name));
  };
}

function oneOf(texts: readonly string[] | undefined): (text: string) => boolean {
  if (!texts) return () => true;
  const wanted = new Set(texts.map((text) => text.toLowerCase()));
  return (text) => wanted.has(text.toLowerCase());
}

function noticeMs(event: ScheduledEvent, nowMs: number): number {
  return event.notBefore === null ? 0 : Math.max(0, Date.parse(event.notBefore) - nowMs);
}
