// Script: what happens to a group and when, as data of scenarios and recordings; finds one by name.
import type { EventFields, WireEvent } from '../events/event.ts';
import type { FaultOrder } from '../events/faults.ts';
import type { HostVersionOptions } from '../metadata/metadata-versions.ts';

/** A scenario or a recording. */
export interface Script {
  readonly name: string;
  /** One line: what it is for. */
  readonly purpose: string;
  /** The machines that it is written for; a start without a word about machines takes these. Any other group plays it too. */
  readonly group?: ScriptGroup;
  /** In the order of their times. */
  readonly steps: readonly Step[];
  /** It begins again so long after each start of it; once only without it. */
  readonly everyMs?: number;
  /** When a recording began, since 1970: its NotBefores are moved by as much as it is played later. */
  readonly recordedAtMs?: number;
}

export interface ScriptGroup extends HostVersionOptions {
  /** Machines are called NAME_0, NAME_1, … */
  readonly name?: string;
  readonly vms?: number;
  /** GPU machines with one fault domain: each sees the events of its own resource alone (protocol 2.3). */
  readonly gpu?: boolean;
}

/** What happens, so long after the script's start. */
export interface Step {
  readonly afterMs: number;
  readonly action: Action;
}

/**
 * What a step does. Events of the script are called by the name that their step gave them. In `Resources`, `seen` and a fault's `vm`, `vm:N`
 * is the group's machine N (counted around where there are fewer), `fd:N` all machines of fault domain N, and any other text is a name.
 * A schedule whose `Resources` come out empty because the group has no machine of that fault domain is left out.
 * A move that is impossible by then (a cancel after a client's approval, say) is left out too.
 */
export type Action =
  | {
      readonly kind: 'schedule';
      readonly as?: string;
      readonly fields: EventFields;
      /** So many alike; 1 without it. */
      readonly count?: number;
    }
  | { readonly kind: 'change'; readonly event: string; readonly fields: EventFields }
  | { readonly kind: 'start' | 'end' | 'cancel'; readonly event: string }
  /** Played one after the other; none clears. */
  | { readonly kind: 'fault'; readonly orders: readonly FaultOrder[] }
  /** The incarnation starts again at 1, or grows by so many more without a change of what is seen. */
  | { readonly kind: 'incarnation'; readonly skip: number | 'restart' }
  /** As after 24 h without a request: the next one switches the service on again (protocol 1.4). */
  | { readonly kind: 'switchOff' }
  /** The whole document, as it was recorded: takes the place of all that is listed. Its events neither start nor end by themselves. */
  | { readonly kind: 'document'; readonly incarnation: number; readonly events: readonly WireEvent[] };

/** What shipped scenarios were called in earlier versions, and are called now. */
const FORMER_NAMES: ReadonlyMap<string, string> = new Map([['user-reboot-at-once', 'auto-approved-user-reboot']]);

/** Returns the script of this name, or the one that had it before; undefined if there is none. */
export function scriptNamed(scripts: readonly Script[], name: string): Script | undefined {
  const present = FORMER_NAMES.get(name);
  return scripts.find((script) => script.name === name) ?? scripts.find((script) => script.name === present);
}
