// The keys of an event in control bodies and scenarios → EventFields.
import * as v from 'valibot';
import { duration } from '../../schema/pieces.ts';
import { type EventFields, readNotBefore } from '../events/event.ts';

/** Such as an event type or a machine's name. */
export const nonEmptyText = v.pipe(v.string(), v.minLength(1));

export function wholeNumberFrom(least: number) {
  return v.pipe(v.number(), v.safeInteger(), v.minValue(least));
}

/** A text that fits into a path and can be compared ignoring case. */
const eventId = v.pipe(
  nonEmptyText,
  v.maxLength(256, 'must have at most 256 characters'),
  v.check((id) => id.isWellFormed(), 'must be well-formed Unicode'),
);

const notBefore = v.pipe(
  v.string(),
  v.check(
    (text) => readNotBefore(text) !== null,
    'must be a date such as "Mon, 11 Apr 2022 22:26:58 GMT" or 2022-04-11T22:26:58Z, or ""',
  ),
  v.transform((text) => readNotBefore(text) ?? ''),
);

/** A simulated duration. The limit exceeds any notice and keeps NotBefore within four-digit years. */
export const span = v.pipe(duration(), v.maxValue(36_500 * 24 * 60 * 60 * 1000, 'must be at most 36500d'));

/**
 * The schema entries of an event, all optional.
 * @param machine the schema of a machine's name in `Resources` and `seen`
 */
export function eventEntries<Schema extends v.GenericSchema<string, string>>(machine: Schema) {
  return {
    EventId: v.exactOptional(eventId),
    EventType: v.exactOptional(nonEmptyText),
    ResourceType: v.exactOptional(v.string()),
    Resources: v.exactOptional(v.array(machine)),
    EventStatus: v.exactOptional(v.picklist(['Scheduled', 'Started'], 'must be Scheduled or Started')),
    NotBefore: v.exactOptional(notBefore),
    Description: v.exactOptional(v.string()),
    EventSource: v.exactOptional(v.string()),
    DurationInSeconds: v.exactOptional(wholeNumberFrom(-1)),
    seen: v.exactOptional(v.array(machine)),
    notice: v.exactOptional(span),
    startedFor: v.exactOptional(span),
    otherTenants: v.exactOptional(span),
  };
}

/** The output of `eventEntries`; durations in simulated milliseconds. */
type EventKeys = Omit<EventFields, 'noticeMs' | 'startedForMs' | 'otherTenantsMs'> & {
  readonly notice?: number;
  readonly startedFor?: number;
  readonly otherTenants?: number;
};

export const ONE_NOT_BEFORE = 'must have NotBefore or notice, not both';

export function hasOneNotBefore({ notice, NotBefore }: EventKeys): boolean {
  return notice === undefined || NotBefore === undefined;
}

export function toEventFields({ notice, startedFor, otherTenants, ...fields }: EventKeys): EventFields {
  return {
    ...fields,
    ...(notice === undefined ? {} : { noticeMs: notice }),
    ...(startedFor === undefined ? {} : { startedForMs: startedFor }),
    ...(otherTenants === undefined ? {} : { otherTenantsMs: otherTenants }),
  };
}
