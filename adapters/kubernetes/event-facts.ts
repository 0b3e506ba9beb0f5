// A delivery's bytes → the facts of the event, or null if it is not about an event.
import { carriedData } from '../../src/formats/cloud-event-json.ts';
import { parseInstant } from '../../src/formats/dates.ts';
import { isObject, type JsonObject, objectOf, parseJson, stringOf } from '../../src/formats/json-object.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import { isDrill } from '../../src/model/ids.ts';
import { namesNode } from './node/node-name.ts';

/** `prepare`: the event is scheduled or has started. `recover`: it has ended. */
const PHASES: Readonly<Record<string, 'prepare' | 'recover'>> = {
  scheduled: 'prepare',
  updated: 'prepare',
  started: 'prepare',
  ended: 'recover',
};

export interface NodeEventFacts {
  readonly phase: 'prepare' | 'recover';
  /** The EventId in lower case. */
  readonly key: string;
  readonly type: string;
  readonly status: string;
  readonly eventId: string;
  readonly description: string;
  /** Wall time; null if it is unknown or the event has started. */
  readonly notBeforeMs: number | null;
  /** Null while this VM's name is unknown. */
  readonly vm: string | null;
  /** Whether the event names this VM; null while the VM's name is unknown. */
  readonly affected: boolean | null;
  readonly resources: readonly string[];
  readonly isDrill: boolean;
}

export function eventFacts({ change, partitionKey, bytes }: Delivery): NodeEventFacts | null {
  const phase = PHASES[change];
  const data = dataOf(bytes);
  if (phase === undefined || data === null) return null;
  const observer = objectOf(data['observer']);
  const { resources, notBefore } = data;
  return {
    isDrill: isDrill(partitionKey),
    phase,
    key: partitionKey,
    type: stringOf(data['eventType']),
    status: stringOf(data['eventStatus']),
    eventId: stringOf(data['eventId']),
    description: stringOf(data['description']),
    notBeforeMs: change === 'started' || typeof notBefore !== 'string' ? null : parseInstant(notBefore),
    vm: typeof observer['name'] === 'string' ? observer['name'] : null,
    affected: typeof observer['affected'] === 'boolean' ? observer['affected'] : null,
    resources: Array.isArray(resources) ? resources.filter((name) => typeof name === 'string') : [],
  };
}

/**
 * Returns whether the event names this VM. If the VM's name is unknown, it compares the name of the node.
 * @param node as configured; null if it is derived from the VM's name
 */
export function concerns({ affected, resources }: NodeEventFacts, node: string | null): boolean {
  if (affected !== null) return affected;
  return node !== null && namesNode(resources, node);
}

function dataOf(bytes: Uint8Array): JsonObject | null {
  const event = parseJson(bytes, 'the CloudEvent');
  if (!('value' in event) || !isObject(event.value)) return null;
  const data = carriedData(event.value);
  return 'value' in data && isObject(data.value) ? data.value : null;
}
