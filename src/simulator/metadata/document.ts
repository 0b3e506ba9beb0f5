// A machine's view and an api-version → its document as that version writes it, and the bytes.
import { lacksField, UNDERSCORE_VERSION } from '../../model/api-versions.ts';
import type { EventField } from '../../model/events.ts';
import { toJsonBytes } from '../answer.ts';
import type { WireEvent } from '../events/event.ts';
import type { Listing, View } from '../events/view.ts';

/** The version that introduced a type; all versions list types that are missing here. */
const TYPE_ADDED: ReadonlyMap<string, string> = new Map([
  ['Preempt', '2017-11-01'],
  ['Terminate', '2019-01-01'],
  ['SpotRebalanceRecommendation', '2024-07-09'],
]);

/** The fields that the oldest versions lack. */
const NEWER_FIELDS: ReadonlyMap<string, EventField> = new Map([
  ['Description', 'description'],
  ['EventSource', 'eventSource'],
  ['DurationInSeconds', 'durationInSeconds'],
]);

export function toDocument({ incarnation, events }: Listing, apiVersion: string): object {
  const listed = events.filter((event) => (TYPE_ADDED.get(event.EventType) ?? '') <= apiVersion);
  return { DocumentIncarnation: incarnation, Events: listed.map((event) => toVersion(event, apiVersion)) };
}

/** Keeps the order of the keys, so that a replay has the order of its recording. */
function toVersion(event: WireEvent, apiVersion: string): Partial<WireEvent> {
  const known = Object.entries(event).filter(([key]) => {
    const field = NEWER_FIELDS.get(key);
    return field === undefined || !lacksField(apiVersion, field);
  });
  const written: Partial<WireEvent> = Object.fromEntries(known);
  return apiVersion === UNDERSCORE_VERSION
    ? { ...written, Resources: event.Resources.map((name) => `_${name}`) }
    : written;
}

/** Documents as bytes, cached until the view changes. */
export class DocumentCache {
  readonly #view: View;
  /** By api-version, and by machine if the machines see different events. */
  readonly #written = new Map<string, Uint8Array>();
  #revision = -1;
  #isSameForAll = true;

  constructor(view: View) {
    this.#view = view;
  }

  bytes(vm: string, apiVersion: string): Uint8Array {
    if (this.#revision !== this.#view.revision) {
      this.#written.clear();
      this.#revision = this.#view.revision;
      this.#isSameForAll = this.#view.isSameForAll();
    }
    const key = `${apiVersion} ${this.#isSameForAll ? '' : vm}`;
    const known = this.#written.get(key);
    if (known) return known;
    const bytes = toJsonBytes(
      toDocument({ incarnation: this.#view.incarnation, events: this.#view.listed(vm) }, apiVersion),
    );
    this.#written.set(key, bytes);
    return bytes;
  }
}
