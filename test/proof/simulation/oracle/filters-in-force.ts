// Starts and reloads of one machine → the filters of a sink that may have judged a CloudEvent.
import type { Settings, SinkSettings } from '../history.ts';
import type { Observation } from '../observation.ts';
import type { Told } from './changes.ts';
import { madeAt } from './made-at.ts';

type Filter = SinkSettings['filter'];

interface Span {
  readonly fromMs: number;
  /** While a reload is under way, both are possible. */
  readonly settings: readonly Settings[];
}

export class FiltersInForce {
  readonly #seen: readonly Observation[];
  readonly #spans: readonly Span[];
  /** The time in a CloudEvent shows only roughly when it was made. */
  readonly #hasJumped: boolean;

  constructor(seen: readonly Observation[], first: Settings) {
    this.#seen = seen;
    this.#spans = spansOf(seen, first);
    this.#hasJumped = seen.some(({ kind }) => kind === 'jumped');
  }

  /** Several if it is not certain which one was in force. */
  of(sink: string, told: Told): readonly Filter[] {
    const filters = this.#at(told).map((settings) => settings.sinks[sink]?.filter);
    return [...new Map(filters.map((filter) => [JSON.stringify(filter), filter])).values()];
  }

  #at(told: Told): readonly Settings[] {
    if (this.#hasJumped)
      return this.#spans.filter(({ fromMs }) => fromMs <= told.atMs).flatMap(({ settings }) => settings);
    const atMs = madeAt(told, this.#seen)[0] ?? 0;
    const now = this.#spans.findLast(({ fromMs }) => fromMs < atMs);
    const begun = this.#spans.filter(({ fromMs }) => fromMs === atMs);
    return [...(now === undefined ? [] : [now]), ...begun].flatMap(({ settings }) => settings);
  }
}

function spansOf(seen: readonly Observation[], first: Settings): readonly Span[] {
  const spans: Span[] = [{ fromMs: Number.NEGATIVE_INFINITY, settings: [first] }];
  let current = first;
  const coming = new Set<Settings>();
  for (const each of seen) {
    if (each.kind === 'begun') {
      current = each.settings;
      coming.clear();
    } else if (each.kind !== 'settings') continue;
    else if (each.outcome === 'asked') coming.add(each.settings);
    else {
      coming.delete(each.settings);
      if (each.outcome === 'applied') current = each.settings;
    }
    spans.push({ fromMs: each.atMs, settings: [current, ...coming] });
  }
  return spans;
}
