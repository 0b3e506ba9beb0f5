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

/** The one whose resource names carry a leading underscore. */
export const UNDERSCORE_VERSION = '2017-03-01';

const ADDED: Partial<Record<EventField, string>> = {
  description: '2019-04-01',
  eventSource: '2019-08-01',
  durationInSeconds: '2020-07-01',
};

/** Whether documents of this api-version never hold the field, so that its absence says nothing. An unknown version lacks nothing that older ones have. */
export function lacksField(apiVersion: string, field: EventField): boolean {
  const added = ADDED[field];
  return added !== undefined && /^\d{4}-\d{2}-\d{2}/.test(apiVersion) && apiVersion.slice(0, 10) < added;
}
