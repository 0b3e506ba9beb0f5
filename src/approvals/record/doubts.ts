// StartRequests whose answer was lost, or that a process that ended may have posted → what is said of their events' approvals where those start or go.
import type { EventApproval } from '../../model/approvals.ts';
import { isPassedBy, isPosted, type PassedBy } from './transitions.ts';

export class Doubts {
  /** By key: it may have been accepted. */
  readonly #keys = new Set<string>();

  add({ key }: EventApproval): void {
    this.#keys.add(key);
  }

  /** What an event that starts or goes now makes of its open approvals. */
  passedBy(key: string): PassedBy {
    return this.#keys.has(key) ? 'unknown' : 'moot';
  }

  /** These stand now: known to be accepted, or told what can be told, they are in doubt no more. */
  see({ key, state }: EventApproval): void {
    if (isPosted(state) || isPassedBy(state)) this.#keys.delete(key);
  }

  /** The event has ended. */
  forget(key: string): void {
    this.#keys.delete(key);
  }
}
