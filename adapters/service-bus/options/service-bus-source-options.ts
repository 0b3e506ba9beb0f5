// Configuration of a queue or subscription of approvals → checked options.
import * as v from 'valibot';
import type { OptionFault } from '../../../src/schema/faults.ts';
import { flag, rules } from '../../../src/schema/pieces.ts';
import type { Readers } from '../../approval-source.ts';
import {
  busConnectionEntries,
  busConnectionFaults,
  connectionSecretFaults,
  namespaceOf,
} from './connection-options.ts';
import { showEndpoint } from './connection-string.ts';
import { entityName } from './service-bus-options.ts';

/** Limits of a subscription's name (naming rules of Microsoft.ServiceBus). */
const LONGEST_NAME = 50;
const NAME = /^[^/\\?#@*\s\p{Cc}]+$/u;

const keys = v.strictObject({
  ...busConnectionEntries,
  queue: entityName('The queue that approvals are read from. Either this, or topic and subscription.'),
  topic: entityName('The topic of the subscription that approvals are read from. Either this or queue.'),
  subscription: v.exactOptional(
    v.pipe(
      v.string(),
      v.maxLength(LONGEST_NAME, `must have at most ${LONGEST_NAME} characters`),
      v.regex(NAME, 'must be the name of a subscription'),
      v.description('The subscription of the topic. With readers: each, every bridge needs its own.'),
    ),
  ),
  sessions: flag(
    false,
    'Whether the queue or subscription requires sessions: each is read in its order. Default false.',
  ),
  readers: v.exactOptional(
    v.pipe(
      v.picklist(['each', 'one'], 'must be each or one'),
      v.description(
        'each: every bridge reads every message, from its own subscription. one: the bridges share the messages. Default one for a queue, each for a subscription.',
      ),
    ),
  ),
});

/**
 * The options of `approvals.sources.NAME` with type service-bus, without `type` and `approver` (behaviour 2.12 and
 * 8.11).
 */
export const serviceBusSourceOptions = v.pipe(
  keys,
  rules<v.InferOutput<typeof keys>>((options) => [...busConnectionFaults(options), ...entityFaults(options)]),
);

export type ServiceBusSourceOptions = v.InferOutput<typeof serviceBusSourceOptions>;

/** The queue or subscription of approvals. */
export interface SourceEntity {
  /** The path for links: `approvals`, `maintenance/Subscriptions/web_0`. */
  readonly path: string;
  /** The name in messages: `queue approvals`, `subscription web_0 of topic maintenance`. */
  readonly label: string;
  /** The fields in logs. */
  readonly place: Readonly<Record<string, string>>;
}

export function sourceEntityOf({ queue, topic = '', subscription = '' }: ServiceBusSourceOptions): SourceEntity {
  if (queue !== undefined) return { path: queue, label: `queue ${queue}`, place: { queue } };
  const path = `${topic}/Subscriptions/${subscription}`;
  return { path, label: `subscription ${subscription} of topic ${topic}`, place: { topic, subscription } };
}

export function readersOf({ queue, readers }: ServiceBusSourceOptions): Readers {
  return readers ?? (queue === undefined ? 'each' : 'one');
}

/**
 * Returns the stream that messages come from; names of entities ignore case.
 * @param options with open secrets, without faults
 */
export function streamsOf(options: ServiceBusSourceOptions): readonly string[] {
  return [`${showEndpoint(namespaceOf(options).endpoint)} ${sourceEntityOf(options).path}`.toLowerCase()];
}

export function sourceSecretFaults(options: ServiceBusSourceOptions): readonly OptionFault[] {
  return connectionSecretFaults(options, options.queue ?? options.topic ?? '');
}

function entityFaults({ queue, topic, subscription, readers }: v.InferOutput<typeof keys>): readonly OptionFault[] {
  const faults: OptionFault[] = [];
  if (queue === undefined && topic === undefined)
    faults.push({ key: 'queue', message: 'is missing: set queue, or topic and subscription' });
  if (queue !== undefined && topic !== undefined)
    faults.push({ key: 'topic', message: 'cannot be combined with queue: set only one of them' });
  if (topic !== undefined && queue === undefined && subscription === undefined)
    faults.push({ key: 'subscription', message: 'is missing: the messages of a topic are read from a subscription' });
  if (queue !== undefined && subscription !== undefined)
    faults.push({ key: 'subscription', message: 'has no effect with queue: remove it' });
  if (queue !== undefined && readers === 'each')
    faults.push({
      key: 'readers',
      message:
        'cannot be each for a queue, because its readers share the messages: use a topic with a subscription for each bridge, or remove it',
    });
  return faults;
}
