// An api-version of a request → whether a metadata route takes it; and the newest ones, which the service names when it does not.
import { API_VERSIONS } from '../../api-versions.ts';

/** Which api-versions a route takes. */
export interface VersionRule {
  readonly takes: (apiVersion: string) => boolean;
  /** The three newest, newest first. */
  readonly newest: readonly string[];
}

/** Of instance metadata, oldest first: some of its dozens. The last three were named as the newest in July 2025 (MicrosoftDocs/azure-compute-docs#289). */
const INSTANCE_VERSIONS: readonly string[] = [
  '2017-12-01',
  '2018-10-01',
  '2019-11-01',
  '2021-02-01',
  '2024-03-15',
  '2024-07-17',
  '2025-04-07',
];

/** Of scheduled events: the eight that they know. */
export const EVENT_VERSION_RULE: VersionRule = {
  takes: (apiVersion) => API_VERSIONS.some((known) => known === apiVersion),
  newest: API_VERSIONS.slice(0, 3),
};

/** Of instance metadata: any date, as its versions do not differ in what the simulator answers. */
export const INSTANCE_VERSION_RULE: VersionRule = {
  takes: (apiVersion) => /^20\d\d-[01]\d-[0-3]\d$/.test(apiVersion) && apiVersion >= '2017-03-01',
  newest: INSTANCE_VERSIONS.slice(-3).reverse(),
};

/** Of a route that has no versions: none is needed, and one that is given does not matter. */
export const NO_VERSION_RULE: VersionRule = { takes: () => true, newest: [] };

/** What the route of versions lists, oldest first. */
export const ALL_VERSIONS: readonly string[] = [...new Set([...INSTANCE_VERSIONS, ...API_VERSIONS])].sort();
