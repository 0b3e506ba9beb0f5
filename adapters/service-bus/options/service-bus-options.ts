// Configuration of a Service Bus sink → checked options.
import * as v from 'valibot';
import type { OptionFault } from '../../../src/schema/faults.ts';
import { duration } from '../../../src/schema/pieces.ts';
import { checkKeys, connectionEntries, connectionFaults, connectionSecretFaults } from './connection-options.ts';

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
  ...connectionEntries,
  queue: entityName('The queue to send to. Either this or topic.'),
  topic: entityName('The topic to send to. Either this or queue.'),
  mode: v.pipe(
    v.optional(v.picklist(['binary', 'structured']), 'binary'),
    v.description(
      'CloudEvents content mode: binary puts attributes into application properties, structured the whole event into the body. Default binary.',
    ),
  ),
  sessions: v.pipe(
    v.optional(v.boolean(), false),
    v.description(
      'Whether the queue, or a subscription of the topic, requires sessions: each Azure event is then one session. Default false.',
    ),
  ),
  attributePrefix: v.pipe(
    v.optional(v.picklist(['underscore', 'colon']), 'underscore'),
    v.description('In binary mode, attributes are named cloudEvents_type (underscore) or cloudEvents:type (colon). Default underscore.'),
  ),
  ttl: v.exactOptional(
    v.pipe(
      v.union(
        [v.literal('untilNotBefore'), v.pipe(duration(), v.minValue(LEAST_TTL_MS, TTL_RANGE), v.maxValue(MOST_TTL_MS, TTL_RANGE))],
        'must be untilNotBefore or a duration from 1s to 49d',
      ),
      v.description(
        'How long a message lives: a duration, or untilNotBefore for requests to prepare. Default: that of the queue or topic.',
      ),
    ),
  ),
});

/** The service-bus sink's options (behaviour 2.11). */
export const serviceBusOptions = v.pipe(
  keys,
  checkKeys<v.InferOutput<typeof keys>>((options) => [...connectionFaults(options), ...entityFaults(options)]),
);

export interface EntityOptions {
  readonly queue?: string | undefined;
  readonly topic?: string | undefined;
}

export type ServiceBusOptions = v.InferOutput<typeof serviceBusOptions>;

/** The queue or topic. */
export interface Entity {
  readonly kind: 'queue' | 'topic';
  readonly path: string;
}

/** Returns the entity of checked options. */
export function entityOf({ queue, topic }: EntityOptions): Entity {
  return queue === undefined ? { kind: 'topic', path: topic ?? '' } : { kind: 'queue', path: queue };
}

/** Returns the faults of the values of the secrets. */
export function secretFaults(options: ServiceBusOptions): readonly OptionFault[] {
  return connectionSecretFaults(options, entityOf(options).path);
}

function entityFaults({ queue, topic }: EntityOptions): readonly OptionFault[] {
  if (queue === undefined && topic === undefined) return [{ key: 'queue', message: 'is missing: set queue or topic' }];
  return queue !== undefined && topic !== undefined
    ? [{ key: 'topic', message: 'cannot be combined with queue: set only one of them' }]
    : [];
}
