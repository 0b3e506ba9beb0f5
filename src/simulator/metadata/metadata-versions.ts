// A requested api-version → whether a route takes it, and the refusal if not.
import * as v from 'valibot';
import { API_VERSIONS } from '../../model/api-versions.ts';

/** Which api-versions a route takes. */
export interface VersionRule {
  readonly takes: (apiVersion: string) => boolean;
  /** The three newest, newest first. */
  readonly newest: readonly string[];
}

/** Of which api-versions a host knows, what a user may say. */
export interface HostVersionOptions {
  /** Those of scheduled events that it knows, of the eight that there are; all of them where absent. */
  readonly apiVersions?: readonly string[];
  /** The status for an api-version that it does not know; 400 where absent. A missing one, or one that is no date, is 400 always. */
  readonly unknownApiVersion?: 400 | 404;
}

/** The schema entries of `HostVersionOptions`, for scenarios and tests. */
export const hostEntries = {
  apiVersions: v.exactOptional(v.pipe(v.array(v.picklist(API_VERSIONS)), v.minLength(1))),
  unknownApiVersion: v.exactOptional(v.picklist([400, 404], 'must be 400 or 404')),
};

/** The api-versions of a host's routes. */
export interface HostVersions {
  readonly rules: Readonly<Record<'events' | 'instance' | 'none', VersionRule>>;
  /** What the route of versions lists, oldest first. */
  readonly all: readonly string[];
  readonly unknownStatus: 400 | 404;
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

/** Of instance metadata: any date, as its versions do not differ in what the simulator answers. */
const INSTANCE_RULE: VersionRule = {
  takes: (apiVersion) => isDate(apiVersion) && apiVersion >= '2017-03-01',
  newest: INSTANCE_VERSIONS.slice(-3).reverse(),
};

/** Of a route that has no versions: none is needed, and one that is given does not matter. */
const NO_RULE: VersionRule = { takes: () => true, newest: [] };

/** @param wanted its versions in any order */
export function hostVersions({ apiVersions = API_VERSIONS, unknownApiVersion = 400 }: HostVersionOptions): HostVersions {
  const known = API_VERSIONS.filter((version) => apiVersions.includes(version));
  const events: VersionRule = { takes: (apiVersion) => known.some((one) => one === apiVersion), newest: known.slice(0, 3) };
  return {
    rules: { events, instance: INSTANCE_RULE, none: NO_RULE },
    all: [...new Set([...INSTANCE_VERSIONS, ...known])].sort(),
    unknownStatus: unknownApiVersion,
  };
}

/** Whether a text looks like an api-version at all. */
export function isDate(apiVersion: string): boolean {
  return /^20\d\d-[01]\d-[0-3]\d$/.test(apiVersion);
}
