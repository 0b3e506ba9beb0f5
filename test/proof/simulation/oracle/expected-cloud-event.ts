// A change that a bridge must publish → the CloudEvent of the contract, attribute by attribute.
import { fieldsChanged, hexOf, keyOf, type ListedEvent, notBeforeOf } from './listed-event.ts';

export type Phase = 'scheduled' | 'updated' | 'started' | 'ended';

export interface ExpectedChange {
  readonly phase: Phase;
  readonly id: string;
  readonly event: ListedEvent;
  readonly before: ListedEvent | null;
  readonly incarnation: number | null;
  readonly wallMs: number;
  /** First seen Started, and the document before did not list it: an error, unless it was to be expected. */
  readonly withoutNotice: 'yes' | 'no' | 'maybe';
  /** On `ended`: those that the documents allow. */
  readonly outcomes: readonly string[];
}

export interface Observer {
  readonly name: string;
  readonly source: string;
}

export type Json = Readonly<Record<string, unknown>>;

/** What is wrong with this CloudEvent, attribute by attribute; empty: nothing. */
export function differences(told: Json, change: ExpectedChange, observer: Observer): readonly string[] {
  const expected = cloudEventOf(change, observer);
  const data = told['data'] as Json;
  const { approval: _, ...seenBy } = (data['observer'] ?? {}) as Json;
  const given: Json = { ...told, data: { ...data, observer: seenBy } };
  const outcome = String(told['outcome']);
  if (change.phase === 'ended' && change.outcomes.includes(outcome)) {
    expected['outcome'] = outcome;
    (expected['data'] as Record<string, unknown>)['outcome'] = outcome;
  }
  if (change.withoutNotice === 'maybe' && told['severitynumber'] === 17) Object.assign(expected, ERROR);
  return [...new Set([...Object.keys(expected), ...Object.keys(given)])]
    .filter((name) => canonical(expected[name]) !== canonical(given[name]))
    .map((name) => `${name} is ${canonical(given[name])}, not ${canonical(expected[name])}`);
}

const INFO = { severitynumber: 9, severitytext: 'INFO' };
const WARN = { severitynumber: 13, severitytext: 'WARN' };
const ERROR = { severitynumber: 17, severitytext: 'ERROR' };

function cloudEventOf(change: ExpectedChange, { name, source }: Observer): Record<string, unknown> {
  const { phase, id, event, wallMs, outcomes } = change;
  const key = keyOf(event.EventId);
  const notBefore = notBeforeOf(event);
  const isAhead = notBefore !== null && Date.parse(notBefore) > wallMs;
  return {
    specversion: '1.0',
    id,
    source,
    type: `io.github.scheduled-events-bridge.${phase}.v1`,
    subject: `scheduledevents/${key}`,
    time: new Date(wallMs).toISOString(),
    datacontenttype: 'application/json',
    dataschema: 'https://scheduled-events-bridge.github.io/schemas/change.v1.json',
    partitionkey: key,
    correlationid: key,
    impact: event.EventType.toLowerCase(),
    initiator: event.EventSource.toLowerCase(),
    ...(phase === 'ended' && { outcome: outcomes[0] }),
    ...((phase === 'scheduled' || phase === 'updated') && isAhead && { expirytime: notBefore }),
    ...severityOf(change),
    traceparent: `00-${key.replaceAll('-', '')}-${hexOf(id, 16)}-01`,
    data: {
      eventId: event.EventId,
      eventType: event.EventType,
      eventStatus: phase === 'ended' ? 'Ended' : event.EventStatus,
      previousStatus: change.before?.EventStatus ?? null,
      resourceType: event.ResourceType,
      resources: event.Resources,
      notBefore,
      description: event.Description,
      eventSource: event.EventSource,
      durationInSeconds: event.DurationInSeconds,
      ...(phase === 'updated' && change.before !== null && { changedFields: fieldsChanged(change.before, event) }),
      ...(phase === 'ended' && { outcome: outcomes[0] }),
      observer: {
        name,
        documentIncarnation: change.incarnation,
        affected: event.Resources.some((each) => each.toLowerCase() === name.toLowerCase()),
      },
    },
  };
}

function severityOf({ phase, event, withoutNotice }: ExpectedChange): object {
  const impact = event.EventType.toLowerCase();
  if (phase === 'ended') return INFO;
  if (phase === 'started' && withoutNotice === 'yes' && event.EventSource !== 'User' && impact !== 'freeze')
    return ERROR;
  if (impact === 'freeze') return INFO;
  return impact === 'preempt' || impact === 'terminate' ? ERROR : WARN;
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'absent';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([name, part]) => `${name}:${canonical(part)}`).join(',')}}`;
}
