// A running bridge's parts → readiness, GET /v1/events and the snapshot for /metrics.
import { eventData } from '../cloudevents/data.ts';
import { drainingEvent } from '../conditions/draining.ts';
import type { Config } from '../config/config.ts';
import type { ClockOffset } from '../diagnosis/clock.ts';
import { toRfc3339Seconds } from '../formats/dates.ts';
import type { EventsView } from '../http/events-route.ts';
import type { DrainState, Readiness } from '../http/health-routes.ts';
import type { HoldOfAll } from '../model/approvals.ts';
import type { Instant, KnownState, Occurrence, ScheduledEvent } from '../model/events.ts';
import { heldAllOf } from '../model/held-all.ts';
import { isDrill } from '../model/ids.ts';
import type { MachineView } from '../model/operators.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Snapshot } from '../telemetry/metrics.ts';
import { ageMs, type Deps, now } from '../time/clock.ts';
import type { CertificateWatch } from './certificate-watch.ts';
import type { Identity } from './identity.ts';
import type { MetadataSource } from './metadata-source.ts';
import type { Reloads } from './reloads.ts';
import type { RunningFlow } from './running-flow.ts';
import type { Sinks } from './sinks.ts';

/** After this time without a good document, the bridge is not ready. */
const STALE_AFTER_MS = 60_000;

interface StatusParts {
  readonly outbox: Outbox;
  readonly identity: Identity;
  readonly metadata: Pick<MetadataSource, 'lastFailed'>;
  readonly sinks: Sinks;
  readonly reloads: Pick<Reloads, 'refused' | 'sinceMs'>;
  readonly deps: Deps;
  readonly streams: { readonly readers: number };
  readonly logLinesDropped: () => number;
  readonly version: string;
  readonly clock: Pick<ClockOffset, 'seconds'>;
  readonly certificates: Pick<CertificateWatch, 'all' | 'expiring'>;
  /** The configuration in force. */
  readonly current: () => Pick<Config, 'approvals'>;
}

type ShownFlow = Pick<RunningFlow, 'store' | 'approvals' | 'sources'>;

/** The labels of metrics, and the number of deprecated settings. */
export function namesIn({ sinks, approvals, deprecated }: Pick<Config, 'sinks' | 'approvals' | 'deprecated'>) {
  const deprecatedSettings = deprecated.length;
  return { sinks: Object.keys(sinks), sources: Object.keys(approvals.sources), deprecatedSettings };
}

/** Reads the current state at each call. Changes nothing. */
export class Status {
  readonly #parts: StatusParts;
  /** Null until documents are handled. */
  #flow: ShownFlow | null = null;

  constructor(parts: StatusParts) {
    this.#parts = parts;
  }

  /** Sets the flow to show; null removes it. */
  began(flow: ShownFlow | null): void {
    this.#flow = flow;
  }

  /** Null until documents are handled. */
  get approvals(): ShownFlow['approvals'] | null {
    return this.#flow?.approvals ?? null;
  }

  /**
   * Returns whether the bridge reads documents and stores. Sink states are shown but do not count. Hosts, paths and
   * errors only if `isWhole`.
   */
  readiness(isWhole: boolean): Readiness {
    const { sinks } = this.#parts;
    const store = this.#flow?.store ?? null;
    const lastGoodAt = store?.state.lastGoodAt ?? null;
    const blocked = this.#blocked(lastGoodAt);
    const reasons = blocked === null ? [] : [...this.#causes(isWhole), blocked];
    if (store !== null && store.fault !== null)
      reasons.push(isWhole ? `nothing can be stored: ${store.fault}` : 'nothing can be stored');
    const states = [...sinks.status()].map(([name, { state, reason, sinceMs, untilMs }]) => [
      name,
      {
        state,
        ...(isWhole && { reason }),
        since: toRfc3339Seconds(sinceMs),
        ...(untilMs !== null && { until: toRfc3339Seconds(untilMs) }),
      },
    ]);
    const details = {
      ...(isWhole && this.#machine),
      configuration: this.#configuration(isWhole),
      sinks: Object.fromEntries(states),
    };
    return { ready: reasons.length === 0, reasons, details };
  }

  /** What keeps the bridge from handling events, or null. */
  #blocked(lastGoodAt: Instant | null): string | null {
    const { deps, identity } = this.#parts;
    if (!identity.isPresumed) return 'the bridge does not know yet which VM this is, and handles no events until then';
    if (!identity.isIdentified)
      return 'the bridge does not know yet which VM this is: events are published, and none ends until then';
    if (lastGoodAt === null) return 'no good document of the metadata service yet';
    return ageMs(lastGoodAt, now(deps)) < STALE_AFTER_MS ? null : 'the last good document is 60 s old or older';
  }

  /** Why the last poll gave no document, else why the VM is not identified. Hosts and answers only if `isWhole`. */
  #causes(isWhole: boolean): readonly string[] {
    const { metadata, identity } = this.#parts;
    const failed = metadata.lastFailed;
    if (failed !== null)
      return [
        isWhole ? failed.error.message : `the metadata service gives no document (${failed.result}): see the log`,
      ];
    if (identity.isIdentified || identity.fault === null) return [];
    return [isWhole ? identity.fault : 'instance metadata cannot be used: see the log'];
  }

  get #machine(): MachineView {
    const { identity, version, clock, certificates, current } = this.#parts;
    return {
      vm: { name: identity.observer.name, source: identity.source },
      version,
      dryRun: current().approvals.dryRun,
      heldAll: heldAllOf(this.#holdOfAll),
      clock: { offsetSeconds: clock.seconds },
      certificates: certificates.expiring(),
    };
  }

  get #holdOfAll(): HoldOfAll | null {
    return this.#flow === null ? this.#parts.outbox.holdOfAll.load() : this.#flow.approvals.holdOfAll;
  }

  /** The time of the configuration in force, and the last rejected reload since. */
  #configuration(isWhole: boolean): object {
    const { refused, sinceMs } = this.#parts.reloads;
    const since = toRfc3339Seconds(sinceMs);
    if (refused === null) return { since, refused: null };
    const { atMs, by, faults, restart } = refused;
    return { since, refused: { at: toRfc3339Seconds(atMs), ...(isWhole && { by, faults, restart }) } };
  }

  /** In one line, for a service manager. */
  get words(): string {
    const isRejected = this.#parts.reloads.refused !== null;
    const words = `${this.#holdOfAll === null ? '' : 'everything is held; '}${this.#flowWords}`;
    return isRejected ? `${words}; the changed configuration is rejected, see the log` : words;
  }

  get #flowWords(): string {
    const flow = this.#flow;
    const [cause] = this.#causes(true);
    const why = cause === undefined ? '' : `: ${cause}`;
    if (flow === null) return `waiting until it is known which VM this is${why}`;
    const { state, blindness, fault } = flow.store;
    const listed = listedEvents(state).length;
    if (fault !== null) return `nothing can be stored: ${fault}`;
    if (blindness !== null) return `blind: no good document of the metadata service since ${blindness.since}${why}`;
    if (state.lastGoodAt === null) return `waiting for the first document of the metadata service${why}`;
    const limits = this.#parts.identity.isIdentified ? '' : '; none ends until it is known which VM this is';
    return `watching: ${listed} ${listed === 1 ? 'event' : 'events'} listed${limits}`;
  }

  /**
   * Returns the answer of `GET /drainz`. A bridge that is blind or has not identified its VM does not drain the
   * machine.
   */
  drain(options: Config['http']['drain']): DrainState | null {
    if (options === null) return null;
    const { outbox, identity, deps } = this.#parts;
    const { state, blindness } = this.#flow?.store ?? {
      state: outbox.known.load(),
      blindness: outbox.known.blindness(),
    };
    const { name } = identity.observer;
    if (blindness !== null || name === null) return { state: 'serving' };
    const event = drainingEvent(listedEvents(state), options, name, deps.wallMs());
    if (event === null) return { state: 'serving' };
    const { eventId, eventType, eventStatus, notBefore } = event;
    return {
      state: 'draining',
      eventId,
      impact: eventType.toLowerCase(),
      notBefore: eventStatus === 'Started' ? null : notBefore,
    };
  }

  /** The answer of `GET /v1/events` (behaviour 6.2). */
  events(): EventsView {
    const flow = this.#flow;
    const known = flow?.store.state;
    const observer = this.#parts.identity.observer;
    const incarnation = known?.incarnation ?? null;
    const lastGoodAt = known?.lastGoodAt ?? null;
    return {
      ...this.#machine,
      state: flow?.store.blindness ? 'blind' : lastGoodAt === null ? 'enabling' : 'watching',
      documentIncarnation: incarnation,
      observedAt: lastGoodAt && toRfc3339Seconds(lastGoodAt.wallMs),
      events: [...(known?.events.values() ?? [])].map(({ key, occurrence, event }) => ({
        ...eventData(event, { previousStatus: null, incarnation: isDrill(key) ? null : incarnation, observer }),
        cloudEventId: this.#parts.outbox.journalPages.seenId({ key, occurrence }),
        approval: flow?.approvals.summary(key) ?? null,
        ...flow?.approvals.nextStep(key),
      })),
    };
  }

  /**
   * Returns the events of `GET /v1/events`; null while events are stored, and it is not known if the store is of this
   * VM.
   */
  listed(): readonly Occurrence[] | null {
    if (this.#flow !== null) return [...this.#flow.store.state.events.values()];
    return this.#parts.outbox.known.load().events.size === 0 ? [] : null;
  }

  /** Returns the values of the gauges, at each scrape. */
  snapshot(): Snapshot {
    const { outbox, sinks, deps, streams, logLinesDropped } = this.#parts;
    const store = this.#flow?.store ?? null;
    const known = store?.state;
    const lastGoodAt = known?.lastGoodAt ?? null;
    const events = known === undefined ? [] : listedEvents(known);
    const announced = events.filter(({ eventStatus }) => eventStatus === 'Scheduled');
    return {
      documentAgeSeconds: lastGoodAt && ageMs(lastGoodAt, now(deps)) / 1000,
      clockOffsetSeconds: this.#parts.clock.seconds,
      certificates: this.#parts.certificates.all(),
      lastDocumentAtMs: lastGoodAt?.wallMs ?? null,
      incarnation: known?.incarnation ?? null,
      isBlind: store && store.blindness !== null,
      events: { scheduled: announced.length, started: events.length - announced.length },
      announced,
      sinks: [...sinks.status()].map(([sink, { state }]) => {
        const { queued, oldestQueuedAtMs, dead } = outbox.queue.backlog(sink);
        const oldestSeconds = oldestQueuedAtMs === null ? null : Math.max(0, deps.wallMs() - oldestQueuedAtMs) / 1000;
        return { sink, queued, oldestSeconds, deadLetters: dead, state };
      }),
      sources: [...(this.#flow?.sources.status() ?? [])].map(([source, isUp]) => ({ source, isUp })),
      approvals: {
        ...(this.#flow?.approvals.overview() ?? { states: [], notStartedSeconds: 0, awaited: [] }),
        isAllHeld: this.#holdOfAll !== null,
      },
      streamReaders: streams.readers,
      logLinesDropped: logLinesDropped(),
      store: { ...outbox.usage(), isWritable: store && store.fault === null },
    };
  }
}

/** Returns events of the metadata service. Drills neither drain a machine nor cause an alert. */
function listedEvents({ events }: KnownState): readonly ScheduledEvent[] {
  return [...events.values()].flatMap(({ key, event }) => (isDrill(key) ? [] : [event]));
}
