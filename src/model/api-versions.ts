// The api-versions of the metadata service → the fields of their documents, the one to request.
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

const [NEWEST, ...OLDER] = API_VERSIONS;
/** Few, because all programs of a VM together may send only 5 requests a second. */
const MOST_TRIES = 3;

/**
 * A fixed api-version, or `newest`: the newest one until an older one is accepted while all newer ones are rejected. A
 * single rejection means little (the service also answers 404 while it is being updated), so each trial starts with the
 * newest version, then continues with older ones after the last one tried. This object keeps the first accepted
 * version.
 */
export class VersionChoice {
  #accepted: string | undefined;
  #older = 0;

  constructor(apiVersion: string) {
    if (apiVersion !== 'newest') this.#accepted = apiVersion;
  }

  /** Returns the versions to try now, in order, until one is accepted. */
  candidates(): readonly string[] {
    if (this.#accepted !== undefined) return [this.#accepted];
    const next = Array.from(
      { length: MOST_TRIES - 1 },
      (_, place) => OLDER[(this.#older + place) % OLDER.length] ?? NEWEST,
    );
    return [NEWEST, ...next];
  }

  rejected(version: string): void {
    if (version !== NEWEST) this.#older += 1;
  }

  accepted(version: string): void {
    this.#accepted = version;
  }

  /** The version for requests that cannot be a trial. */
  get current(): string {
    return this.#accepted ?? NEWEST;
  }
}
