// Sinks, journal, dead letters and drills → their schemas, for the routes of operators.
import { LANE_STATES } from '../../model/deliveries.ts';
import type { Node } from './node.ts';
import { count, id, list, names, object, text, textOrNull, time, timeOrNull } from './schema-pieces.ts';

const next: Node = { type: ['integer', 'null'], minimum: 1, description: 'The `after` of the next page; null after the last.' };
const status: Node = {
  type: ['integer', 'string', 'null'],
  description: 'What the other side said last where it failed: an HTTP status or a code.',
};

export const OPERATOR_SCHEMAS: Node = {
  Sinks: list('Sink'),
  Sink: object({
    name: id,
    type: id,
    state: { enum: LANE_STATES },
    queued: count,
    oldestAt: timeOrNull,
    lastAcceptedAt: timeOrNull,
    lastError: { anyOf: [{ type: 'null' }, object({ code: id, message: text, at: time })] },
    deadLetters: count,
  }),
  JournalPage: object({ items: list('JournalItem'), next }),
  JournalItem: object({
    position: { type: 'integer', minimum: 1 },
    at: time,
    event: { type: 'object', description: 'The structured CloudEvent.' },
    deliveries: list('JournalDelivery'),
  }),
  JournalDelivery: object({
    sink: id,
    state: { enum: ['queued', 'delivered', 'dead', 'discarded'] },
    attempts: count,
    at: { ...time, description: 'When it came to this state.' },
    status,
  }),
  DeadLetters: object({ items: list('DeadLetter'), next }),
  DeadLetter: object({
    ...{ id, eventId: textOrNull, sink: id, type: id },
    reason: { enum: ['refused', 'expired', 'sink removed'] },
    ...{ status, attempts: count, at: time },
  }),
  Count: object({ count }),
  DrillRequest: {
    ...object(
      {
        eventType: { ...id, maxLength: 128, default: 'Reboot' },
        resources: { type: 'array', minItems: 1, maxItems: 100, items: { ...id, maxLength: 128 }, description: 'By default this VM.' },
        notice: { ...text, description: 'From its announcement to NotBefore, as `2m`, up to a day.', default: '2m' },
        duration: { ...text, description: 'From its start to its end, as `30s`, up to a day.', default: '30s' },
        force: { type: 'boolean', description: 'Also while a real event is listed.', default: false },
      },
      ['eventType', 'resources', 'notice', 'duration', 'force'],
    ),
  },
  DrillBegun: object({ id, eventId: id }),
  DrillReport: object({
    ...{ id, eventId: id, state: { enum: ['scheduled', 'started', 'ended', 'canceled'] } },
    changes: list('DrillChange'),
    approvers: { type: 'array', items: object({ name: id, at: time }), description: 'Who said yes.' },
    missing: { ...names, description: 'Whose yes it lacked when it started or was cancelled; before, whose it lacks.' },
  }),
  DrillChange: object({
    ...{ change: id, at: time },
    sinks: {
      type: 'array',
      items: object({ name: id, acceptedAt: timeOrNull, attempts: count }),
      description: 'Those whose filter lets it through.',
    },
  }),
};
