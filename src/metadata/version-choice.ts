// `metadata.apiVersion` and the answers so far → the api-version to request (behaviour 4.6).
import { API_VERSIONS } from '../model/api-versions.ts';

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
