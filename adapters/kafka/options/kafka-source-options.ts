// Configuration of a Kafka source of approvals → checked options.
import * as v from 'valibot';
import { choice, rule } from '../../../src/schema/pieces.ts';
import { connectionRules, kafkaConnectionEntries } from './connection-options.ts';
import { topicName } from './kafka-options.ts';

const GROUP_FAULT = 'is missing: bridges that share the messages need the same groupId';

/** The options of `approvals.sources.NAME` with type kafka, without `type` and `approver` (behaviour 2.12 and 8.11). */
export const kafkaSourceOptions = v.pipe(
  v.strictObject({
    ...kafkaConnectionEntries,
    topic: v.pipe(topicName(), v.description('The topic that approvals are read from. The bridge never creates it.')),
    groupId: v.exactOptional(
      v.pipe(
        v.string(),
        v.minLength(1, 'must not be empty'),
        v.maxLength(249, 'must have at most 249 characters'),
        v.description(
          'The consumer group. Default scheduled-events-bridge- and the name of the VM in lower case, so that each bridge has its own.',
        ),
      ),
    ),
    readers: choice(
      ['each', 'one'],
      'each',
      'each: every bridge reads every message. one: the bridges of a group share them, and groupId is required. Default each.',
      'must be each or one',
    ),
  }),
  connectionRules(),
  rule('groupId', ({ readers, groupId }) => readers === 'each' || groupId !== undefined, GROUP_FAULT),
);

export type KafkaSourceOptions = v.InferOutput<typeof kafkaSourceOptions>;
