// An api-version of the metadata service → what its documents hold (protocol 4.1).
import type { EventField } from './events.ts';

/** Every known api-version, newest first. 2024-07-09 is a preview that added the type `SpotRebalanceRecommendation`. */
export const API_VERSIONS = [
  '2024-07-09',
  '2020-07-01',
  '2019-08-01',
  '2019-04-01',
  '2019-01-01',
  '2017-11-01',
  '2017-08-01',
  '2017-03-01',
] as const;

/** The api-version in which resource names begin with an underscore. */
export const UNDERSCORE_VERSION = '2017-03-01';

/** The api-version that added a field; the others were always there. */
const ADDED: Partial<Record<EventField, string>> = {
  description: '2019-04-01',
  eventSource: '2019-08-01',
  durationInSeconds: '2020-07-01',
};

/**
 * Returns true if documents of this api-version never have the field. An unknown version is taken to have every field.
 */
export function lacksField(apiVersion: string, field: EventField): boolean {
  const added = ADDED[field];
  return added !== undefined && /^\d{4}-\d{2}-\d{2}/.test(apiVersion) && apiVersion.slice(0, 10) < added;
}
