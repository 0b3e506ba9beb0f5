// The body of POST /v1/drills → the event to simulate, or faults.
import * as v from 'valibot';
import { durationBetween, type OptionsOf } from '../schema/pieces.ts';

const name = v.pipe(
  v.string('must be a text'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(128, 'has more than 128 characters'),
  // As for documents: many JSON parsers reject half a surrogate pair.
  v.transform((text) => text.toWellFormed()),
);

export const drillRequest = v.strictObject({
  eventType: v.optional(name, 'Reboot'),
  resources: v.exactOptional(
    v.pipe(
      v.array(name, 'must be a list of names'),
      v.minLength(1, 'must name at least one machine'),
      v.maxLength(100, 'has more than 100 names'),
      v.description('By default this VM.'),
    ),
  ),
  notice: v.optional(durationBetween('0s', '1d', 'The time from announcement to NotBefore.'), '2m'),
  duration: v.optional(durationBetween('0s', '1d', 'The time from start to end.'), '30s'),
  force: v.optional(
    v.pipe(v.boolean('must be true or false'), v.description('Also while a real event is listed.')),
    false,
  ),
});

/** Times in milliseconds. */
export type DrillRequest = OptionsOf<typeof drillRequest>;
