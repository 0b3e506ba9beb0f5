// Records of a fleet and an order → sent by the real adapters to that far side, on sockets.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import * as v from 'valibot';
import type { AdapterDefinition } from '../../../adapters/adapter.ts';
import { kafkaSink } from '../../../adapters/kafka/kafka.ts';
import { serviceBusSink } from '../../../adapters/service-bus/service-bus.ts';
import { webhookSink } from '../../../adapters/webhook/webhook.ts';
import { manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { adapterDeps } from '../../adapters/adapter-deps.ts';
import { openSecrets } from '../../adapters/contract.ts';
import type { Fault } from '../part.ts';
import type { FarSideAddress, FarSideOrder, FarSideReport } from './far-side-report.ts';
import { type SentFigures, sendAll } from './fleet-lanes.ts';
import { FleetSender, SILENT, SINK } from './fleet-sender.ts';
import type { FleetRecord } from './replayed.ts';
import { hashOf } from './socket-counts.ts';

/** A busy machine takes minutes for thousands of connections. */
const PATIENCE_MS = 900_000;

const DEFINITIONS: Readonly<Record<FarSideOrder['kind'], AdapterDefinition<never>>> = {
  webhook: webhookSink as AdapterDefinition<never>,
  'service-bus': serviceBusSink as AdapterDefinition<never>,
  kafka: kafkaSink as AdapterDefinition<never>,
};

export interface Replay {
  readonly order: FarSideOrder;
  readonly sent: SentFigures;
  readonly came: FarSideReport;
  readonly faults: Readonly<Partial<Record<Fault, number>>>;
}

/** @throws Error if not all records are accepted */
export async function replay(records: readonly FleetRecord[], order: FarSideOrder): Promise<Replay> {
  const child = fork(join(import.meta.dirname, 'far-side-process.ts'));
  const answer = async <T>(question: object): Promise<T> => {
    child.send(question);
    const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the far side ended with ${code}`)));
    const [message] = await Promise.race([once(child, 'message'), ended]);
    return message as T;
  };
  try {
    const address = await answer<FarSideAddress>(order);
    const deps = systemDeps();
    const senderOf = () => new FleetSender(adapterOf(order.kind, address), deps);
    const sent = await sendAll(records, senderOf, { deps, patienceMs: PATIENCE_MS });
    const came = await answer<FarSideReport>({ report: true });
    return { order, sent, came, faults: judgeReplay(records, order.kind, came) };
  } finally {
    if (child.connected) child.disconnect();
  }
}

function adapterOf(kind: FarSideOrder['kind'], { options, secrets }: FarSideAddress) {
  const definition = DEFINITIONS[kind];
  const parsed = v.parse(definition.options, { type: kind, ...options });
  openSecrets(parsed, secrets);
  return manageAdapter(definition.create(parsed, { ...adapterDeps(), name: SINK, logger: SILENT }), SINK);
}

/** Every record must be there with its bytes; with duplicate detection, one for each CloudEvent. */
export function judgeReplay(
  records: readonly FleetRecord[],
  kind: FarSideOrder['kind'],
  { kept }: Pick<FarSideReport, 'kept'>,
): Replay['faults'] {
  const idOf = new Map(records.map(({ id, bytes }) => [hashOf(bytes), id]));
  const strangers = kept.filter((hash) => !idOf.has(hash)).length;
  const found = new Set(kept);
  if (kind !== 'service-bus')
    return { lost: [...idOf.keys()].filter((hash) => !found.has(hash)).length, altered: strangers };
  const ids = kept.map((hash) => idOf.get(hash));
  const foundIds = new Set(ids);
  const lost = [...new Set(records.map(({ id }) => id))].filter((id) => !foundIds.has(id)).length;
  return { lost, altered: strangers, twice: ids.length - foundIds.size };
}
