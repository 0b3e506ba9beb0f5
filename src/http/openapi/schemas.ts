// Requests and answers → `components.schemas`; answers may get new members, so none is closed.
import { APPROVAL_RESULT_STATES, APPROVAL_STATES, APPROVAL_STEPS } from '../../model/approvals.ts';
import { VM_FIELDS } from '../../model/vm-metadata.ts';
import { nearMissPattern } from '../../schema/near-misses.ts';
import { EXAMPLE_ID, type Node } from './node.ts';
import { OPERATOR_SCHEMAS } from './operator-schemas.ts';
import { id, list, names, object, text, textOrNull, time, timeOrNull } from './schema-pieces.ts';

const eventId: Node = { ...id, maxLength: 256 };
const DRILL: Node = { const: true, description: 'Of a drill alone.' };
const rule: Node = { type: ['string', 'null'], description: '`documentation` or `policy[N]`, counted from 0; null where no rule matches.' };

/** Keys written like these, or not even nearly like them, nor like those that have no place here. */
function written(own: readonly string[], misplaced: readonly string[] = []): Node {
  return { anyOf: [{ enum: own }, { not: { pattern: [...own, ...misplaced].map(nearMissPattern).join('|') } }] };
}

const vm: Node = {
  type: 'object',
  properties: {
    ...Object.fromEntries(VM_FIELDS.map((field) => [field, { type: 'string' }])),
    tags: { type: 'object', additionalProperties: { type: 'string' } },
  },
};
const observer = object(
  { name: textOrNull, vm, documentIncarnation: { type: ['integer', 'null'] }, affected: { type: ['boolean', 'null'] } },
  ['vm'],
);

const SUMMARY: Node = {
  state: { enum: APPROVAL_STATES },
  approvedBy: names,
  policy: rule,
  at: time,
  waitingFor: names,
  holds: list('Hold'),
};

/** What comes from approvers. Other keys may stand beside, as some clients of the metadata service send them, but none that nearly is one of these. */
const REQUESTS: Node = {
  Approvals: {
    description: "The metadata service's own body.",
    ...object({ StartRequests: { ...list('StartRequest'), minItems: 1 } }),
    propertyNames: written(['StartRequests'], ['Holds', 'Releases', 'Seen']),
  },
  StartRequest: {
    propertyNames: written(['EventId', 'Seen']),
    ...object(
      {
        EventId: eventId,
        Seen: { ...text, description: 'The id of the CloudEvent that it answers: 409 `changed` if the event has since got worse.' },
      },
      ['Seen'],
    ),
  },
  HoldRequest: {
    propertyNames: written(['EventId', 'reason']),
    ...object({ EventId: eventId, reason: { ...textOrNull, maxLength: 1000, description: 'For people: it is shown beside the hold.' } }, [
      'reason',
    ]),
  },
  DeadLetterChoice: {
    ...object({ sink: id, ids: { ...names, minItems: 1, maxItems: 1000, description: 'Ids of CloudEvents.' } }),
    additionalProperties: false,
  },
  ApprovalsEvent: cloudEvent('Approvals'),
  HoldRequestEvent: cloudEvent('HoldRequest'),
};

const ANSWERS: Node = {
  Health: object({ status: { const: 'ok' } }),
  Serving: object({ state: { const: 'serving' } }),
  Draining: object({
    state: { const: 'draining' },
    eventId: id,
    impact: { type: 'string', description: 'The EventType in lower case.' },
    notBefore: { ...timeOrNull, description: 'Null once the event has started, or where it has none.' },
  }),
  Readiness: object({
    ready: { type: 'boolean' },
    reasons: { type: 'array', items: text, description: 'Why not, in plain words.' },
    configuration: object({ since: time, refused: { anyOf: [{ type: 'null' }, { $ref: '#/components/schemas/RefusedReload' }] } }),
    sinks: {
      type: 'object',
      additionalProperties: { $ref: '#/components/schemas/SinkStatus' },
      description: 'By name; they do not enter.',
    },
  }),
  RefusedReload: {
    description: 'Of the last reload, where it was refused; the configuration before is in force.',
    ...object({ at: time, by: id, faults: list('Fault'), restart: names }, ['by', 'faults', 'restart']),
  },
  Reloaded: object({ changed: names }),
  Fault: {
    description: 'One thing to mend. `path` is empty for the file as a whole.',
    ...object({ path: text, message: id, allowed: text, suggestion: text }, ['allowed', 'suggestion']),
  },
  SinkStatus: object({ state: id, reason: textOrNull, since: time, until: time }, ['reason', 'until']),
  Caller: object({
    name: { type: ['string', 'null'] },
    role: { enum: ['approver', 'reader', null] },
    admin: { type: 'boolean' },
  }),
  Events: object({
    state: { enum: ['watching', 'enabling', 'blind'] },
    documentIncarnation: { type: ['integer', 'null'] },
    observedAt: timeOrNull,
    events: list('Event'),
  }),
  Event: object(
    {
      eventId: id,
      eventType: text,
      eventStatus: { enum: ['Scheduled', 'Started'] },
      previousStatus: { type: 'null' },
      resourceType: text,
      resources: { type: 'array', items: text, uniqueItems: true },
      notBefore: timeOrNull,
      description: text,
      eventSource: text,
      durationInSeconds: { type: 'integer', minimum: -1 },
      observer,
      approval: { anyOf: [{ type: 'null' }, { $ref: '#/components/schemas/Approval' }] },
      drill: DRILL,
    },
    ['drill'],
  ),
  Approval: object(SUMMARY),
  Results: object({ results: list('Result') }),
  Result: object(
    {
      eventId: { ...id, description: "In the service's letter case." },
      state: { enum: APPROVAL_RESULT_STATES },
      approvedBy: names,
      waitingFor: { ...names, description: 'With `waiting`.' },
      heldBy: { ...names, description: 'With `held`.' },
    },
    ['waitingFor', 'heldBy'],
  ),
  Holds: object({ eventId: id, holds: list('Hold') }),
  Hold: object(
    {
      approver: id,
      reason: textOrNull,
      at: { ...time, description: 'When this reason was given.' },
      replaced: {
        description: 'Absent where it has its first reason.',
        ...object({ times: { type: 'integer', minimum: 1 }, since: time }),
      },
    },
    ['replaced'],
  ),
  Life: object(
    {
      eventId: id,
      ...SUMMARY,
      state: { enum: ['none', ...APPROVAL_STATES], description: '`none`: nobody approved or held, and no rule says for whom to wait.' },
      at: timeOrNull,
      decidedBy: { enum: ['quorum', 'policy', 'deadline', null] },
      deadline: { anyOf: [{ type: 'null' }, object({ at: time, then: { enum: ['approve', 'leave'] } })] },
      rank: {
        type: ['integer', 'null'],
        minimum: 0,
        description: "The place of this machine in its group; null without a group's leader.",
      },
      submitsAt: timeOrNull,
      submittedAt: timeOrNull,
      notStartedForSeconds: { type: ['number', 'null'], minimum: 0, description: 'Since it was submitted, while it is not Started.' },
      steps: list('Step'),
      next: { type: ['integer', 'null'], minimum: 1, description: 'The `after` of the next part of the record; null at its end.' },
      unwritten: { ...list('UnwrittenSteps'), description: 'What was counted alone, since its approver has so many lines already.' },
      drill: DRILL,
    },
    ['drill'],
  ),
  Step: object(
    {
      at: time,
      step: { enum: APPROVAL_STEPS },
      approver: textOrNull,
      via: { ...textOrNull, description: '`token`, `certificate`, `jwt`, `source:NAME` or `sink:NAME`.' },
      policy: rule,
      status: { type: ['integer', 'string', 'null'], description: 'What the metadata service answered.' },
      reason: textOrNull,
      times: { type: 'integer', minimum: 2, description: 'How many of its kind this line stands for; absent: itself alone.' },
    },
    ['times'],
  ),
  UnwrittenSteps: object({ approver: textOrNull, steps: { type: 'integer', minimum: 1 }, since: time, until: time }),
  Problem: {
    description: 'RFC 9457. Compare `type`; the words may change.',
    ...object(
      {
        ...{ type: id, title: id, status: { type: 'integer' }, detail: id, eventId: text },
        faults: { ...list('Fault'), description: 'With `faulty-configuration`.' },
        restart: { ...names, description: 'With `needs-restart`: the keys of the configuration that need one.' },
      },
      ['eventId', 'faults', 'restart'],
    ),
    examples: [
      { type: 'unknown', title: 'No such event', status: 404, detail: 'The metadata service lists no such event.', eventId: EXAMPLE_ID },
    ],
  },
};

export const SCHEMAS: Node = { ...REQUESTS, ...ANSWERS, ...OPERATOR_SCHEMAS };

/** In structured mode. Its other attributes are not asked for. */
function cloudEvent(schema: string): Node {
  const carried: Node = { $ref: `#/components/schemas/${schema}` };
  const base64: Node = { type: 'string', contentEncoding: 'base64', contentMediaType: 'application/json', contentSchema: carried };
  return {
    description: 'A CloudEvent in structured mode that carries the same in `data`, or as Base64 in `data_base64`.',
    ...object({ specversion: { const: '1.0' }, data: carried, data_base64: base64 }, ['data', 'data_base64']),
    oneOf: [{ required: ['data'] }, { required: ['data_base64'] }],
  };
}
