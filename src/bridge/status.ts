// The parts of a running bridge → what it shows of itself: readiness, GET /v1/events, the snapshot behind /metrics.
import type { Approvals } from '../approvals/approvals.ts';
import { eventData } from '../cloudevents/data.ts';
import { toRfc3339Seconds } from '../formats/dates.ts';
import type { EventsView } from '../http/bridge-routes.ts';
import type { Readiness } from '../http/health-routes.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Snapshot } from '../telemetry/metrics.ts';
import { ageMs, type Deps, now } from '../time/clock.ts';
import type { Sources } from './approval-sources.ts';
import type { Recorder } from './committer.ts';
import type { Identity } from './identity.ts';
import type { Sinks } from './sinks.ts';

/** A bridge without a good document for so long is not ready. */
const STALE_AFTER_MS = 60_000;

export interface StatusParts {
  readonly outbox: Outbox;
  readonly identity: Identity;
  readonly sinks: Sinks;
  /** Null until the VM is identified. */
  readonly watch: () => { readonly recorder: Recorder; readonly approvals: Approvals; readonly sources: Sources } | null;
  readonly deps: Deps;
  readonly logLinesDropped: () => number;
}

/** Reads and changes nothing; everything is asked anew at each call. */
export class Status {
  readonly #parts: StatusParts;

  constructor(parts: StatusParts) {
    this.#parts = parts;
  }

  /** Whether it sees and stores; the state of a sink does not enter, but is told. Reasons that name hosts, paths and errors only if `isWhole`. */
  readiness(isWhole: boolean): Readiness {
    const { deps, identity, sinks } = this.#parts;
    const recorder = this.#parts.watch()?.recorder ?? null;
    const lastGoodAt = recorder?.known.lastGoodAt ?? null;
    const reasons: string[] = [];
    if (!identity.isIdentified)
      reasons.push('it is not known yet which VM this is, or what to name as source: see instance metadata and cloudevents.source');
    else if (lastGoodAt === null) reasons.push('no good document of the metadata service yet');
    else if (ageMs(lastGoodAt, now(deps)) >= STALE_AFTER_MS) reasons.push('the last good document is 60 s old or older');
    if (recorder !== null && recorder.fault !== null)
      reasons.push(isWhole ? `nothing can be stored: ${recorder.fault}` : 'nothing can be stored');
    const states = [...sinks.status()].map(([name, { state, reason, sinceMs, untilMs }]) => [
      name,
      {
        state,
        ...(isWhole && { reason }),
        since: toRfc3339Seconds(sinceMs),
        ...(untilMs !== null && { until: toRfc3339Seconds(untilMs) }),
      },
    ]);
    return { ready: reasons.length === 0, reasons, details: { sinks: Object.fromEntries(states) } };
  }

  /** The answer of `GET /v1/events` (behaviour 6.2). */
  events(): EventsView {
    const watch = this.#parts.watch();
    const known = watch?.recorder.known;
    const observer = this.#parts.identity.observer;
    const incarnation = known?.incarnation ?? null;
    const lastGoodAt = known?.lastGoodAt ?? null;
    return {
      state: watch?.recorder.blindness ? 'blind' : lastGoodAt === null ? 'enabling' : 'watching',
      documentIncarnation: incarnation,
      observedAt: lastGoodAt && toRfc3339Seconds(lastGoodAt.wallMs),
      events: [...(known?.events.values() ?? [])].map(({ key, event }) => ({
        ...eventData(event, { previousStatus: null, incarnation, observer }),
        approval: watch?.approvals.summary(key) ?? null,
      })),
    };
  }

  /** What the gauges show; asked at each scrape. */
  snapshot(): Snapshot {
    const { outbox, sinks, deps, logLinesDropped } = this.#parts;
    const known = this.#parts.watch()?.recorder.known;
    const lastGoodAt = known?.lastGoodAt ?? null;
    const events = [...(known?.events.values() ?? [])].map(({ event }) => event);
    const announced = events.filter(({ eventStatus }) => eventStatus === 'Scheduled');
    return {
      documentAgeSeconds: lastGoodAt && ageMs(lastGoodAt, now(deps)) / 1000,
      lastDocumentAtMs: lastGoodAt?.wallMs ?? null,
      incarnation: known?.incarnation ?? null,
      events: { scheduled: announced.length, started: events.length - announced.length },
      announced,
      sinks: [...sinks.status()].map(([sink, { state }]) => {
        const { queued, oldestQueuedAtMs, dead } = outbox.queue.backlog(sink);
        const oldestSeconds = oldestQueuedAtMs === null ? null : Math.max(0, deps.wallMs() - oldestQueuedAtMs) / 1000;
        return { sink, queued, oldestSeconds, deadLetters: dead, state };
      }),
      sources: [...(this.#parts.watch()?.sources.status() ?? [])].map(([source, isUp]) => ({ source, isUp })),
      approvals: this.#parts.watch()?.approvals.overview() ?? { states: [], notStartedSeconds: 0 },
      logLinesDropped: logLinesDropped(),
      store: outbox.usage(),
    };
  }
}
