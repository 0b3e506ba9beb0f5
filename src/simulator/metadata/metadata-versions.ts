// A requested api-version → whether a route accepts it, and the versions to name if not.
import * as v from 'valibot';
import { API_VERSIONS } from '../../model/api-versions.ts';

export interface VersionRule {
  readonly takes: (apiVersion: string) => boolean;
  /** The three newest, newest first. */
  readonly newest: readonly string[];
}

/** A user's options for the api-versions that a host supports. */
export interface HostVersionOptions {
  /** The supported api-versions of scheduled events. Default: all eight. */
  readonly apiVersions?: readonly string[];
  /**
   * The status for an unsupported api-version. Default: 400. A missing one, or one that is not a date, always gives
   * 400.
   */
  readonly unknownApiVersion?: 400 | 404;
}

/** The schema entries of `HostVersionOptions`, for scenarios and tests. */
export const hostEntries = {
  apiVersions: v.exactOptional(v.pipe(v.array(v.picklist(API_VERSIONS)), v.minLength(1))),
  unknownApiVersion: v.exactOptional(v.picklist([400, 404], 'must be 400 or 404')),
};

export interface HostVersions {
  readonly rules: Readonly<Record<'events' | 'instance' | 'none', VersionRule>>;
  /** The versions that `/metadata/versions` lists, oldest first. */
  readonly all: readonly string[];
  readonly unknownStatus: 400 | 404;
}

/**
 * Some of the dozens of versions of instance metadata, oldest first. The last three were the newest in July 2025
 * (MicrosoftDocs/azure-compute-docs#289).
 */
const INSTANCE_VERSIONS: readonly string[] = [
  '2017-12-01',
  '2018-10-01',
  '2019-11-01',
  '2021-02-01',
  '2024-03-15',
  '2024-07-17',
  '2025-04-07',
];

/** Instance metadata accepts any date, since the simulator's answers are the same in all versions. */
const INSTANCE_RULE: VersionRule = {
  takes: (apiVersion) => isDate(apiVersion) && apiVersion >= '2017-03-01',
  newest: INSTANCE_VERSIONS.slice(-3).reverse(),
};

/** A route without versions accepts any version, or none. */
const NO_RULE: VersionRule = { takes: () => true, newest: [] };

export function hostVersions({
  apiVersions = API_VERSIONS,
  unknownApiVersion = 400,
}: HostVersionOptions): HostVersions {
  const known = API_VERSIONS.filter((version) => apiVersions.includes(version));
  const events: VersionRule = {
    takes: (apiVersion) => known.some((one) => one === apiVersion),
    newest: known.slice(0, 3),
  };
  return {
    rules: { events, instance: INSTANCE_RULE, none: NO_RULE },
    all: [...new Set([...INSTANCE_VERSIONS, ...known])].sort(),
    unknownStatus: unknownApiVersion,
  };
}

/** Whether a text has the form of an api-version. */
export function isDate(apiVersion: string): boolean {
  return /^20\d\d-[01]\d-[0-3]\d$/.test(apiVersion);
}
