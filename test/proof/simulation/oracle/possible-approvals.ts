// What was said to a machine, its settings → events that it may have approved or held.
import type { Settings } from '../history.ts';
import type { Observation } from '../observation.ts';
import { keyOf, type ListedEvent } from './listed-event.ts';
import { rulingOf } from './policy.ts';

/** An event of which the bridge certainly has no approval can only have been canceled if it disappears early. */
export class PossibleApprovals {
  readonly #keys = new Set<string>();
  #settings: readonly Settings[];

  constructor(settings: Settings) {
    this.#settings = [settings];
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** @param events all that the bridge knows now */
  see(each: Observation, events: Iterable<ListedEvent>): void {
    if (each.kind === 'begun') this.#settings = [each.settings];
    // Whatever came of a reload: rules of both may have decided.
    if (each.kind === 'settings') this.#settings = [...this.#settings.slice(-1), each.settings];
    if (each.kind === 'request' || each.kind === 'told') this.#keys.add(keyOf(each.event));
    if (each.kind === 'prepared') this.#keys.add(each.id.slice(0, each.id.indexOf(':')));
    const isOfAll = each.kind === 'request' && each.event === '*';
    if (!isOfAll && each.kind !== 'settings' && each.kind !== 'document' && each.kind !== 'begun') return;
    for (const event of events) if (isOfAll || this.#mayDecide(event)) this.#keys.add(keyOf(event.EventId));
  }

  #mayDecide(event: ListedEvent): boolean {
    return this.#settings.some(({ approvals, sinks }) => {
      const { then: verdict, approvedBeforeMs } = rulingOf(approvals, event);
      const isHeld = Object.values(sinks).some(({ hold }) => hold === true);
      return verdict === 'approve' || approvedBeforeMs !== null || isHeld;
    });
  }
}
