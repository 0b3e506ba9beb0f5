// Configuration of a Service Bus sink → checked options.
import * as v from 'valibot';
import type { OptionFault } from '../../../src/schema/faults.ts';
import { choice, duration, flag, rules } from '../../../src/schema/pieces.ts';
import { busConnectionEntries, busConnectionFaults, connectionSecretFaults } from './connection-options.ts';

/** Limits of an entity's path (Service Bus quotas). */
const LONGEST_PATH = 260;
const PATH = /^(?![/$])[^\\?#@*\s\p{Cc}]+(?<!\/)$/u;
const LEAST_TTL_MS = 1000;
/** AMQP encodes it in 32 bits of milliseconds. */
const MOST_TTL_MS = 49 * 86_400_000;
const TTL_RANGE = 'must be from 1s to 49d';

export const entityName = (description: string) =>
  v.exactOptional(
    v.pipe(
      v.string(),
      v.maxLength(LONGEST_PATH, `must have at most ${LONGEST_PATH} characters`),
      v.regex(PATH, 'must be the name of a queue or topic'),
      v.description(description),
    ),
  );

const keys = v.strictObject({
  type: v.pipe(v.optional(v.literal('service-bus')), v.description('The kind of sink.')),
  ...busConnectionEntries,
  queue: entityName('The queue to send to. Either this or topic.'),
  topic: entityName('The topic to send to. Either this or queue.'),
  mode: choice(
    ['binary', 'structured'],
    'binary',
    'CloudEvents content mode: binary puts attributes into application properties, structured the whole event into the body. Default binary.',
  ),
  sessions: flag(
    false,
    'Whether the queue, or a subscription of the topic, requires sessions: each Azure event is then one session. Default false.',
  ),
  attributePrefix: choice(
    ['underscore', 'colon'],
    'underscore',
    'In binary mode, attributes are named cloudEvents_type (underscore) or cloudEvents:type (colon). Default underscore.',
  ),
  ttl: v.exactOptional(
    v.pipe(
      v.union(
        [
          v.literal('untilNotBefore'),
          v.pipe(duration(), v.minValue(LEAST_TTL_MS, TTL_RANGE), v.maxValue(MOST_TTL_MS, TTL_RANGE)),
        ],
        'must be untilNotBefore or a duration from 1s to 49d',
      ),
      v.description(
        'How long a message lives: a duration, or untilNotBefore for requests to prepare. Default: that of the queue or topic.',
      ),
    ),
  ),
});

type Keys = v.InferOutput<typeof keys>;

/** The service-bus sink's options (behaviour 2.11). */
export const serviceBusOptions = v.pipe(
  keys,
  rules<Keys>((options) => [...busConnectionFaults(options), ...entityFaults(options)]),
);

export type ServiceBusOptions = v.InferOutput<typeof serviceBusOptions>;
export type EntityOptions = Pick<Keys, 'queue' | 'topic'>;

/** The queue or topic. */
export interface Entity {
  readonly kind: 'queue' | 'topic';
  readonly path: string;
}

export function entityOf({ queue, topic }: EntityOptions): Entity {
  return queue === undefined ? { kind: 'topic', path: topic ?? '' } : { kind: 'queue', path: queue };
}

export function sinkSecretFaults(options: ServiceBusOptions): readonly OptionFault[] {
  return connectionSecretFaults(options, entityOf(options).path);
}

function entityFaults({ queue, topic }: EntityOptions): readonly OptionFault[] {
  if (queue === undefined && topic === undefined) return [{ key: 'queue', message: 'is missing: set queue or topic' }];
  return queue !== undefined && topic !== undefined
    ? [{ key: 'topic', message: 'cannot be combined with queue: set only one of them' }]
    : [];
}
