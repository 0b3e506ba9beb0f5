// A change → the names of the sinks that get it.
import { affects } from '../model/content.ts';
import type { Change, ScheduledEvent } from '../model/events.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Transaction } from '../outbox/transaction.ts';
import { compileFilter, publishes, type Wants } from './filter.ts';
import type { SinkFilter } from './options.ts';

export interface RoutedSink {
  readonly name: string;
  /** From `compileFilter`. */
  readonly wants: Wants;
}

/** The configured sinks, made ready to be asked often. */
export interface Routes {
  readonly sinks: readonly RoutedSink[];
  /** `publish.resources`. */
  readonly resources: 'all' | 'own';
  /** Whether a sink holds such an event where it is sent it; none does by default. */
  readonly holds?: (sink: string, event: ScheduledEvent) => boolean;
}

export interface RouteFacts {
  readonly outbox: Pick<Outbox, 'known' | 'sinks'>;
  /** The VM's own name; null while unknown. */
  readonly ownName: string | null;
  /** Wall time. */
  readonly nowMs: number;
}

export interface RoutePorts {
  /** Whether a change of this occurrence was queued for the sink, in this transaction or before. */
  readonly wasSent: (sink: string, occurrence: number) => boolean;
  /** Wall time. */
  readonly nowMs: number;
}

/** What a change has that tells of no event. */
const NO_EVENT = { event: null, occurrence: null };

export function compileRoutes(sinks: Readonly<Record<string, { readonly filter: SinkFilter }>>, resources: Routes['resources']): Routes {
  return { sinks: Object.entries(sinks).map(([name, { filter }]) => ({ name, wants: compileFilter(filter) })), resources };
}

/** Asked inside the transaction that stores the change. A sink that was sent an earlier change of its event gets it in any case that its `changes` allow. */
export function route(
  change: Change,
  transaction: Pick<Transaction, 'markOwn'>,
  { sinks, resources }: Routes,
  { outbox, ownName, nowMs }: RouteFacts,
): readonly string[] {
  const { event, occurrence } = change.kind === 'sight' ? NO_EVENT : change;
  if (occurrence !== null && event !== null && ownName !== null && affects(event, ownName)) transaction.markOwn(occurrence);
  const wasSent = (sink: string, of: number) => outbox.sinks.wasSent(sink, of);
  const wanted = routeTo(change, sinks, { wasSent, nowMs });
  const namedBefore = occurrence !== null && outbox.known.isOwn(occurrence);
  if (publishes(resources, change, { ownName, namedBefore })) return wanted;
  return wanted.filter((sink) => occurrence !== null && wasSent(sink, occurrence));
}

/** In the order of `sinks`. Asks the store only where the answer matters: for a change that the filter alone would keep back. */
export function routeTo(change: Change, sinks: readonly RoutedSink[], { wasSent, nowMs }: RoutePorts): string[] {
  const occurrence = change.kind === 'sight' ? null : change.occurrence;
  const goesTo = ({ name, wants }: RoutedSink) =>
    wants(change, { sentBefore: false, nowMs }) ||
    (occurrence !== null && wants(change, { sentBefore: true, nowMs }) && wasSent(name, occurrence));
  return sinks.filter(goesTo).map(({ name }) => name);
}
