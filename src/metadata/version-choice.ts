// `metadata.apiVersion` and the answers so far → the api-version to ask for (behaviour 4.6).
import { API_VERSIONS } from '../model/api-versions.ts';

const [NEWEST, ...OLDER] = API_VERSIONS;
/** 5 requests a second are allowed to all programs of a VM together. */
const MOST_TRIES = 3;

/**
 * A fixed api-version, or `newest`: then the newest one, until an older one answers where all newer ones are refused. A refusal means little by
 * itself (the service answers 404 while it is being updated too), so each trial starts with the newest again and goes on below from where the last
 * one stopped. The first one accepted stays for the life of this object.
 */
export class VersionChoice {
  #accepted: string | undefined;
  #older = 0;

  constructor(apiVersion: string) {
    if (apiVersion !== 'newest') this.#accepted = apiVersion;
  }

  /** The versions to try now, one after the other, as long as they are refused. */
  candidates(): readonly string[] {
    if (this.#accepted !== undefined) return [this.#accepted];
    const next = Array.from({ length: MOST_TRIES - 1 }, (_, place) => OLDER[(this.#older + place) % OLDER.length] ?? NEWEST);
    return [NEWEST, ...next];
  }

  refused(version: string): void {
    if (version !== NEWEST) this.#older += 1;
  }

  accepted(version: string): void {
    this.#accepted = version;
  }

  /** For requests that cannot be a trial. */
  get current(): string {
    return this.#accepted ?? NEWEST;
  }
}
