// A change → the names of the sinks that get it.
import type { Change } from '../model/events.ts';
import type { Wants } from './filter.ts';

export interface RoutedSink {
  readonly name: string;
  /** From `compileFilter`. */
  readonly wants: Wants;
}

export interface RoutePorts {
  /** Whether a change of this occurrence was queued for the sink, in this transaction or before. */
  readonly wasSent: (sink: string, occurrence: number) => boolean;
  /** Wall time. */
  readonly nowMs: number;
}

/** In the order of `sinks`. Asks the store only where the answer matters: for a change that the filter alone would keep back. */
export function routeTo(change: Change, sinks: readonly RoutedSink[], { wasSent, nowMs }: RoutePorts): string[] {
  const occurrence = change.kind === 'source' ? null : change.occurrence;
  const goesTo = ({ name, wants }: RoutedSink) =>
    wants(change, { sentBefore: false, nowMs }) ||
    (occurrence !== null && wants(change, { sentBefore: true, nowMs }) && wasSent(name, occurrence));
  return sinks.filter(goesTo).map(({ name }) => name);
}
