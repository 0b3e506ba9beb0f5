// GET /v1/events: the events that the metadata service lists, with their approvals (behaviour 6.1).
import type { MachineView } from '../model/operators.ts';
import { VM_FIELDS } from '../model/vm-metadata.ts';
import { APPROVAL, DRILL, NEXT } from './approval-routes.ts';
import { MACHINE, MACHINE_EXAMPLE } from './health-routes.ts';
import * as api from './openapi/operation.ts';
import { type ApiRoute, json } from './route.ts';

/** What `GET /v1/events` shows. */
export interface EventsView extends MachineView {
  readonly state: 'watching' | 'enabling' | 'blind';
  readonly documentIncarnation: number | null;
  /** RFC 3339; null before the first good document. */
  readonly observedAt: string | null;
  /** The `data` of a CloudEvent of each event, `cloudEventId`, `approval`, `nextStep`, `heldBackBy` and `rule`. */
  readonly events: readonly object[];
}

export function eventsRoute(ports: { events(): EventsView }): ApiRoute {
  return {
    method: 'GET',
    path: '/v1/events',
    callers: 'readers',
    operation: LIST_EVENTS,
    handle: (request) => request.inTurn(() => json(200, ports.events())),
  };
}

const vm: api.SchemaNode = {
  type: 'object',
  properties: {
    ...Object.fromEntries(VM_FIELDS.map((field) => [field, api.text])),
    tags: { type: 'object', additionalProperties: api.text },
  },
};

const EVENT = api.shape('Event', {
  eventId: api.id,
  eventType: api.text,
  eventStatus: { enum: ['Scheduled', 'Started'] },
  previousStatus: { type: 'null' },
  resourceType: api.text,
  resources: { type: 'array', items: api.text, uniqueItems: true },
  notBefore: api.timeOrNull,
  description: api.text,
  eventSource: api.text,
  durationInSeconds: { type: 'integer', minimum: -1 },
  observer: api.object({
    name: api.textOrNull,
    vm: api.optional(vm),
    documentIncarnation: { type: ['integer', 'null'] },
    affected: { type: ['boolean', 'null'] },
  }),
  cloudEventId: {
    ...api.textOrNull,
    description:
      'The id of the newest `scheduled` or `updated` CloudEvent of this occurrence, as `Seen` takes it; null if there is none.',
  },
  approval: api.orNull(APPROVAL),
  ...NEXT,
  drill: api.optional(DRILL),
});

const EVENTS = api.shape('Events', {
  ...MACHINE,
  state: { enum: ['watching', 'enabling', 'blind'] },
  documentIncarnation: { type: ['integer', 'null'] },
  observedAt: api.timeOrNull,
  events: api.list(EVENT),
});

const EXAMPLE = {
  ...{
    eventId: api.EXAMPLE_ID,
    eventType: 'Freeze',
    eventStatus: 'Scheduled',
    previousStatus: null,
    resourceType: 'VirtualMachine',
  },
  ...{
    resources: ['web_0', 'web_1'],
    notBefore: '2026-01-01T00:15:00Z',
    description: 'Host server is undergoing maintenance.',
  },
  ...{
    eventSource: 'Platform',
    durationInSeconds: 5,
    observer: { name: 'web_0', documentIncarnation: 2, affected: true },
  },
  cloudEventId: `${api.EXAMPLE_ID.toLowerCase()}:scheduled`,
  approval: {
    ...{ state: 'waiting', approvedBy: ['orders'], policy: null, at: '2026-01-01T00:00:00.000Z' },
    ...{ waitingFor: ['billing'], holds: [] },
  },
  nextStep: { action: 'start', at: '2026-01-01T00:15:00Z', by: null },
  heldBackBy: [],
  rule: { policy: null, then: 'wait', waitingFor: ['billing'], window: null, during: [], budgets: [] },
};

function ofFirst(operationId: string): api.SchemaNode {
  return { operationId, parameters: { eventId: '$response.body#/events/0/eventId' } };
}

const LIST_EVENTS: api.ApiOperation = {
  operationId: 'listEvents',
  tag: 'events',
  summary: 'The events that the metadata service lists, and how their approvals stand.',
  answers: {
    200: {
      ...api.jsonAnswer('What is known now.', EVENTS, {
        ...MACHINE_EXAMPLE,
        ...{ state: 'watching', documentIncarnation: 2, observedAt: '2026-01-01T00:00:00Z', events: [EXAMPLE] },
      }),
      links: { approval: ofFirst('getApproval'), release: ofFirst('release') },
    },
  },
};
