// A month and its history → the StartRequests of a whole bridge in virtual time, with kills.
import type { TestContext } from 'node:test';
import type { MetadataTransport } from '../../../src/metadata/transport.ts';
import { type History, type Maintenance, MINUTE_MS, type Moment, type Month } from '../../virtual/month-oracle.ts';
import { VirtualBridge } from '../../virtual/virtual-bridge.ts';

/** A poll each second would take minutes for each month, and so would a month without leaps. */
const POLL_MS = 10_000;
const LEAD_MS = 25_000;

/** The service as the history has it: whole documents, and each StartRequest accepted. */
class PlayedService {
  readonly posts: { readonly eventId: string; readonly atMs: number }[] = [];
  readonly #listed = new Map<string, object>();
  readonly #others: MetadataTransport;
  readonly #nowMs: () => number;
  #incarnation = 1;

  /** `others` answers what is no Scheduled Events request: which VM this is. */
  constructor(others: MetadataTransport, nowMs: () => number) {
    this.#others = others;
    this.#nowMs = nowMs;
  }

  readonly transport: MetadataTransport = async (request, signal) => {
    signal.throwIfAborted();
    const { method, url, body } = request;
    if (!url.includes('/scheduledevents')) return this.#others(request, signal);
    const answer = method === 'POST' ? this.#start(body ?? '') : this.#document();
    return { status: 200, headers: { 'content-type': 'application/json' }, body: new TextEncoder().encode(answer) };
  };

  show(moment: Moment, startMs: number): void {
    if (moment.shown.length > 0) this.#incarnation++;
    for (const { kind, maintenance, notBeforeMs } of moment.shown) {
      const { eventId, eventType, resources } = maintenance;
      if (kind === 'ended') this.#listed.delete(eventId);
      else
        this.#listed.set(eventId, {
          ...{ EventId: eventId, EventStatus: kind === 'started' ? 'Started' : 'Scheduled', EventType: eventType },
          ...{ ResourceType: 'VirtualMachine', Resources: resources, EventSource: 'Platform', DurationInSeconds: -1 },
          NotBefore: kind === 'started' || notBeforeMs === null ? '' : new Date(startMs + notBeforeMs).toUTCString(),
        });
    }
  }

  #document(): string {
    return JSON.stringify({ DocumentIncarnation: this.#incarnation, Events: [...this.#listed.values()] });
  }

  #start(body: string): string {
    const { StartRequests } = JSON.parse(body) as { readonly StartRequests: readonly { readonly EventId: string }[] };
    for (const { EventId } of StartRequests) this.posts.push({ eventId: EventId, atMs: this.#nowMs() });
    return '';
  }
}

/** Returns the StartRequests by EventId, in milliseconds since the begin of the month, in order. */
export async function playOnBridge(
  t: TestContext,
  month: Month,
  { moments, times }: History,
  restarts: readonly number[],
): Promise<readonly (readonly [eventId: string, atMs: number])[]> {
  const bridge = new VirtualBridge(t, settingsOf(month));
  bridge.time.jumpWall(month.startMs - bridge.time.wallMs());
  const service = new PlayedService(bridge.service, () => bridge.time.wallMs() - month.startMs);
  bridge.service = service.transport;
  await bridge.start();
  const kills = restarts.map((minute) => ({ atMs: minute * MINUTE_MS + 45_000 }));
  const looks = times.filter((atMs) => moments.every((moment) => moment.atMs !== atMs)).map((atMs) => ({ atMs }));
  const steps = [...moments, ...kills.map((kill) => ({ ...kill, isKill: true })), ...looks].toSorted(
    (one, other) => one.atMs - other.atMs,
  );
  const passTo = async (atMs: number) => {
    const leftMs = month.startMs + atMs - bridge.time.wallMs();
    if (leftMs > 2 * MINUTE_MS) bridge.time.pass(leftMs - LEAD_MS);
    await bridge.advance(Math.max(0, month.startMs + atMs - bridge.time.wallMs()));
  };
  for (const step of steps) {
    await passTo(step.atMs);
    if ('shown' in step) {
      service.show(step, month.startMs);
      // The next poll reads it, before anybody speaks of it.
      await passTo(step.atMs + POLL_MS);
      for (const { kind, maintenance } of step.commands) await say(bridge, kind, maintenance);
    } else if ('isKill' in step) {
      await bridge.kill();
      await bridge.start();
    } else await passTo(step.atMs + POLL_MS);
  }
  await bridge.advance(MINUTE_MS);
  await bridge.kill();
  return service.posts.map(({ eventId, atMs }) => [eventId, atMs] as const);
}

function settingsOf({ policy, windows, budgets }: Month): ConstructorParameters<typeof VirtualBridge>[1] {
  const duration = (ms: number) => `${ms / 1000}s`;
  // What no rule names is a fault of the configuration.
  const named = <T>(entries: Readonly<Record<string, T>>, key: 'during' | 'budgets') =>
    Object.entries(entries).filter(([name]) => policy.some((rule) => rule[key]?.includes(name)));
  return {
    metadata: { pollInterval: duration(POLL_MS) },
    approvals: {
      approvers: { orders: { token: { env: 'ORDERS_TOKEN' }, admin: true } },
      windows: Object.fromEntries(named(windows, 'during')),
      budgets: Object.fromEntries(
        named(budgets, 'budgets').map(([name, { restMs, ...rest }]) => [name, { ...rest, rest: duration(restMs) }]),
      ),
      policy: policy.map(({ deadline, ...rule }) => ({
        ...rule,
        ...(deadline && { deadline: { before: duration(deadline.beforeMs), then: deadline.then } }),
      })),
    },
    sinks: { audit: { type: 'memory' } },
  };
}

async function say(bridge: VirtualBridge, kind: Moment['commands'][number]['kind'], { eventId }: Maintenance) {
  if (kind === 'hold') await bridge.request('POST', '/v1/holds', { as: 'orders', body: { EventId: eventId } });
  else if (kind === 'release') await bridge.request('DELETE', `/v1/holds/${eventId}`, { as: 'orders' });
  // Its answer waits for the metadata service, or for the end of a hold.
  else void bridge.request('POST', '/v1/approvals', { as: 'orders', body: { StartRequests: [{ EventId: eventId }] } });
}
