// Deliveries for adapter tests: real structured CloudEvents of one VM, as the journal keeps them.
import type { Delivery } from '../../src/model/deliveries.ts';

export interface Sample {
  /** Places it in the queue and names it; two samples with the same number are the same delivery. */
  readonly seq?: number;
  readonly partitionKey?: string;
  /** Bytes of padding in the payload, to fill pipes and buffers. */
  readonly padding?: number;
  /** A text in the payload, to look for where no payload may be. */
  readonly mark?: string;
}

export function sampleDelivery({
  seq = 1,
  partitionKey = 'c7061bac-afdc-4513-b24b-aa5f13a16123',
  padding = 0,
  mark = '',
}: Sample = {}): Delivery {
  const id = `${partitionKey}:updated:${seq.toString(16).padStart(16, '0')}`;
  const event = {
    specversion: '1.0',
    id,
    source: '/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/westno',
    type: 'io.github.scheduled-events-bridge.updated.v1',
    subject: `scheduledevents/${partitionKey}`,
    time: '2026-01-01T00:00:00.000Z',
    datacontenttype: 'application/json',
    partitionkey: partitionKey,
    data: {
      eventId: partitionKey.toUpperCase(),
      description: `Wartung für „WestNO“ ${mark}${'x'.repeat(padding)}`,
      resources: ['WestNO_0'],
    },
  };
  return {
    seq,
    sink: 'under-test',
    id,
    change: 'updated',
    partitionKey,
    timeMs: Date.UTC(2026, 0, 1),
    bytes: Buffer.from(JSON.stringify(event)),
    queuedAtMs: Date.UTC(2026, 0, 1),
    attempts: 0,
    endedAtMs: null,
  };
}
