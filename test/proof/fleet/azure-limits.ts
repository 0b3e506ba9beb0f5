// Records and bytes of one change, as measured → how many machines the limits of Azure carry.

/** As Microsoft's pages had them on 24 November 2026; docs/operate/fleets.md names the pages. */
export const AZURE = {
  /** AMQP connections of a Service Bus namespace; of an Event Hubs namespace in Standard. */
  connections: 5000,
  /** Of a Service Bus namespace in Standard, each second: one for each message sent or received and filter evaluated. */
  creditsPerSecond: 1000,
  /** Of one throughput unit of Event Hubs. */
  recordsPerSecond: 1000,
  bytesPerSecond: 1_000_000,
} as const;

export interface MeasuredGroup {
  readonly machines: number;
  /** Copies of one change, and their bytes. */
  readonly records: number;
  readonly bytes: number;
  /** Of one machine to one far side. */
  readonly connections: number;
}

/** Groups whose events change within the same second. */
export interface Carried {
  readonly machinesByConnections: number;
  readonly groupsByCredits: number;
  readonly groupsByThroughputUnit: number;
}

export function carriedBy({ records, bytes, connections }: MeasuredGroup): Carried {
  return {
    machinesByConnections: Math.floor(AZURE.connections / connections),
    groupsByCredits: Math.floor(AZURE.creditsPerSecond / records),
    groupsByThroughputUnit: Math.floor(Math.min(AZURE.recordsPerSecond / records, AZURE.bytesPerSecond / bytes)),
  };
}
