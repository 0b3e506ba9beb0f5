// A bridge in virtual time → five maintenances that follow the clock alone.
import { createHash } from 'node:crypto';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { failure } from '../../virtual/scripted-adapter.ts';
import { SECOND, type VirtualBridge } from '../../virtual/virtual-bridge.ts';

/** The wall time of the first document. */
export const BEGIN_MS = Date.UTC(2026, 0, 1);
/** After this nothing changes. Every delivery has arrived, whatever happened before. */
export const END_MS = BEGIN_MS + 60 * SECOND;
/** When the process is restarted without a crash: SQLite ends its log then, and begins another. */
export const RESTART_MS = BEGIN_MS + 20 * SECOND;
/** `hooks` answers nothing before this, so that its queue survives. */
const HOOKS_ANSWER_MS = BEGIN_MS + 28 * SECOND;

export const SINKS = ['audit', 'hooks', 'node'] as const;

interface Stay {
  readonly id: string;
  readonly fromMs: number;
  readonly startsMs: number;
  readonly toMs: number;
  readonly type: string;
}

const seconds = (id: string, from: number, starts: number, to: number, type = 'Reboot'): Stay => ({
  ...{ id: `${id}-AFDC-4513-B24B-AA5F13A16123`, type },
  ...{ fromMs: BEGIN_MS + from * SECOND, startsMs: BEGIN_MS + starts * SECOND, toMs: BEGIN_MS + to * SECOND },
});

const STAYS: readonly Stay[] = [
  seconds('A0000001', 3, 9, 13, 'Freeze'),
  seconds('B0000002', 6, 17, 24),
  seconds('C0000003', 15, 30, 34, 'Redeploy'),
  seconds('D0000004', 23, 500, 32),
  seconds('E0000005', 33, 38, 42, 'Preempt'),
];

/** Of one recording or one start. */
export const MAINTENANCES = STAYS.length;

/** The keys of the events that come at or after this moment. */
export function keysFrom(wallMs: number): readonly string[] {
  return STAYS.flatMap(({ id, fromMs }) => (fromMs >= wallMs ? [id.toLowerCase()] : []));
}

function documentAt(wallMs: number): object {
  const listed = STAYS.filter(({ fromMs, toMs }) => fromMs <= wallMs && wallMs < toMs);
  const moments = STAYS.flatMap(({ fromMs, startsMs, toMs }) => [fromMs, startsMs, toMs]);
  return {
    DocumentIncarnation: 1 + moments.filter((moment) => moment <= wallMs).length,
    Events: listed.map(({ id, type, startsMs }) => ({
      EventId: id,
      EventType: type,
      ResourceType: 'VirtualMachine',
      Resources: ['vm_0'],
      EventStatus: startsMs <= wallMs ? 'Started' : 'Scheduled',
      NotBefore: startsMs <= wallMs ? '' : new Date(startsMs + 900_000).toUTCString(),
      Description: `${type} of a machine. `.repeat(20),
      EventSource: 'Platform',
      DurationInSeconds: 9,
    })),
  };
}

/** `print` gets what others see: polls, arrivals at sinks, StartRequests. */
export function playMaintenances(bridge: VirtualBridge, print: (words: string) => void): void {
  const { service, time } = bridge;
  bridge.settings = {
    metadata: { settle: '2s' },
    approvals: { approvers: { node: {} } },
    sinks: {
      audit: { type: 'memory' },
      hooks: { type: 'memory', batch: 4 },
      node: { type: 'memory', approve: 'node', hold: true },
    },
  };
  bridge.service = async (request, signal) => {
    if (!request.url.includes('/metadata/scheduledevents')) return await service(request, signal);
    if (request.method === 'POST') print(`posted ${/"EventId":"([^"]+)"/.exec(request.body ?? '')?.[1]}`);
    else print(`at ${time.wallMs()}`);
    const body = request.method === 'POST' ? '' : JSON.stringify(documentAt(time.wallMs()));
    return { status: 200, headers: { 'content-type': 'application/json' }, body: new TextEncoder().encode(body) };
  };
  for (const name of SINKS)
    bridge.sink(name).answer = (batch) => {
      if (name === 'hooks' && time.wallMs() < HOOKS_ANSWER_MS) return batch.map(() => failure());
      for (const delivery of batch) print(arrival(name, delivery));
      return batch.map(({ change }) =>
        name === 'node' && change === 'scheduled' ? { result: 'accepted', approves: true } : 'accepted',
      );
    };
}

function arrival(sink: string, { id, bytes, partitionKey }: Delivery): string {
  const hash = createHash('sha1').update(bytes).digest('hex').slice(0, 12);
  return `arrived ${sink} ${partitionKey} ${id} ${hash}`;
}
