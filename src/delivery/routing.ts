// A change, and each sink's filter → the names of the sinks that get it (behaviour 2.6 to 2.8).
import { eventMatchers } from '../conditions/matchers.ts';
import { changeName } from '../model/change-names.ts';
import type { Change, ScheduledEvent } from '../model/events.ts';
import { affects } from '../model/ids.ts';
import type { Transaction } from '../outbox/open-store.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { SinkFilter } from './options.ts';

interface RoutedSink {
  readonly name: string;
  /** From `compileFilter`. */
  readonly passes: CompiledFilter;
}

/** The configured sinks, made ready to be asked often. */
export interface Routes {
  readonly sinks: readonly RoutedSink[];
  /** `publish.resources`. */
  readonly resources: 'all' | 'own';
  /** Whether a sink holds such an event once it is sent to it; none does by default. */
  readonly holds?: (sink: string, event: ScheduledEvent) => boolean;
}

interface RouteFacts {
  readonly outbox: { readonly known: Pick<Outbox['known'], 'isOwn'>; readonly sinks: Pick<Outbox['sinks'], 'wasSent'> };
  /** The VM's own name; null while unknown. */
  readonly ownName: string | null;
  /** Wall time. */
  readonly nowMs: number;
}

interface RoutePorts {
  /** Whether a change of this occurrence was queued for the sink, in this transaction or before. */
  readonly wasSent: (sink: string, occurrence: number) => boolean;
  /** Wall time. */
  readonly nowMs: number;
}

const NO_EVENT = { event: null, occurrence: null };

export function compileRoutes(
  sinks: Readonly<Record<string, { readonly filter: SinkFilter }>>,
  resources: Routes['resources'],
): Routes {
  return {
    sinks: Object.entries(sinks).map(([name, { filter }]) => ({ name, passes: compileFilter(filter) })),
    resources,
  };
}

/**
 * Asked inside the transaction that stores the change. A sink that was sent an earlier change of its event gets it in
 * any case that its `changes` allow.
 */
export function route(
  change: Change,
  transaction: Pick<Transaction, 'markOwn'>,
  { sinks, resources }: Routes,
  { outbox, ownName, nowMs }: RouteFacts,
): readonly string[] {
  const { event, occurrence } = change.kind === 'sight' ? NO_EVENT : change;
  if (occurrence !== null && event !== null && ownName !== null && affects(event, ownName))
    transaction.markOwn(occurrence);
  const wasSent = (sink: string, of: number) => outbox.sinks.wasSent(sink, of);
  const wanted = routeTo(change, sinks, { wasSent, nowMs });
  const namedBefore = occurrence !== null && outbox.known.isOwn(occurrence);
  if (publishes(resources, change, { ownName, namedBefore })) return wanted;
  return wanted.filter((sink) => occurrence !== null && wasSent(sink, occurrence));
}

/**
 * In the order of `sinks`. Asks the store only if the answer matters: for a change that the filter alone would keep
 * back.
 */
export function routeTo(change: Change, sinks: readonly RoutedSink[], { wasSent, nowMs }: RoutePorts): string[] {
  const occurrence = change.kind === 'sight' ? null : change.occurrence;
  const goesTo = ({ name, passes }: RoutedSink) =>
    passes(change, { sentBefore: false, nowMs }) ||
    (occurrence !== null && passes(change, { sentBefore: true, nowMs }) && wasSent(name, occurrence));
  return sinks.filter(goesTo).map(({ name }) => name);
}

interface FilterFacts {
  /**
   * Whether the sink was sent a change of the same occurrence before: then `changes` alone can keep this one from it.
   */
  readonly sentBefore: boolean;
  /** Wall time. */
  readonly nowMs: number;
}

type CompiledFilter = (change: Change, facts: FilterFacts) => boolean;

/**
 * Compiles a filter. `source.*` are judged by `changes` alone, approvals by their event: one for an unknown event
 * passes if the filter has no condition on events.
 */
export function compileFilter({ changes: wanted, ...conditions }: SinkFilter): CompiledFilter {
  const changes = wanted && new Set(wanted);
  const matchers = eventMatchers(conditions, 'any');
  return (change, { sentBefore, nowMs }) => {
    if (changes && !changes.has(changeName(change))) return false;
    if (change.kind === 'sight' || sentBefore) return true;
    const { event } = change;
    return matchers.every((matcher) => event !== null && matcher.matches(event, nowMs));
  };
}

/**
 * `publish.resources`: `own` lets pass the events that name this VM, without case, or named it earlier in this
 * occurrence (`namedBefore`); all of them while the VM's own name is unknown; `source.*` always.
 */
export function publishes(
  mode: 'all' | 'own',
  change: Change,
  { ownName, namedBefore }: { readonly ownName: string | null; readonly namedBefore: boolean },
): boolean {
  if (mode === 'all' || change.kind === 'sight' || ownName === null || namedBefore) return true;
  return change.event !== null && affects(change.event, ownName);
}
