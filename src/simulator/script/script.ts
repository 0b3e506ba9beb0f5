// Scripts: what happens to a group and when, as data of scenarios and recordings; one by its name.
import type { EventFields, WireEvent } from '../events/event.ts';
import type { OrderedFault } from '../events/faults.ts';
import type { HostVersionOptions } from '../metadata/metadata-versions.ts';

/** A scenario or a recording. */
export interface Script {
  readonly name: string;
  /** The purpose, in one line. */
  readonly purpose: string;
  /** The machines that it is written for: the default of a start without machines. Any other group can play it too. */
  readonly group?: ScriptGroup;
  /** In the order of their times. */
  readonly steps: readonly ScriptStep[];
  /** The time between two starts of the script; without it, it plays once. */
  readonly everyMs?: number;
  /**
   * The start of a recording, in milliseconds since 1970. Its NotBefores are moved by the time between recording and
   * replay.
   */
  readonly recordedAtMs?: number;
}

export interface ScriptGroup extends HostVersionOptions {
  /** The prefix of the machines' names: NAME_0, NAME_1, … */
  readonly name?: string;
  readonly vms?: number;
  /** GPU machines in one fault domain: each sees only the events that name it (protocol 2.3). */
  readonly gpu?: boolean;
}

/** An action and its time, counted from the start of the script. */
export interface ScriptStep {
  readonly afterMs: number;
  readonly action: Action;
}

/**
 * The action of a step. It refers to events by the name that a step gave them. In `Resources`, `seen` and a fault's
 * `vm`, `vm:N` is machine N of the group (modulo the number of machines), `fd:N` stands for all machines of fault
 * domain N, and any other text is a name. The player skips a schedule whose `Resources` name only empty fault domains,
 * and actions that are no longer possible, such as a cancel after an approval.
 */
export type Action =
  | {
      readonly kind: 'schedule';
      readonly as?: string;
      readonly fields: EventFields;
      /** The number of equal events. Default: 1. */
      readonly count?: number;
    }
  | { readonly kind: 'change'; readonly event: string; readonly fields: EventFields }
  | { readonly kind: 'start' | 'end' | 'cancel'; readonly event: string }
  /** Fault orders that apply one after another; an empty list clears. */
  | { readonly kind: 'fault'; readonly orders: readonly OrderedFault[] }
  /** Restarts the incarnation at 1, or increases it without a change of the events. */
  | { readonly kind: 'incarnation'; readonly skip: number | 'restart' }
  /** Switches the service off, as 24 h without requests do; the next request switches it on (protocol 1.4). */
  | { readonly kind: 'switchOff' }
  /** Replaces all events by a recorded document. Its events neither start nor end by themselves. */
  | { readonly kind: 'document'; readonly incarnation: number; readonly events: readonly WireEvent[] };

/** Former names of shipped scenarios, and their current ones. */
const FORMER_NAMES: ReadonlyMap<string, string> = new Map([['user-reboot-at-once', 'auto-approved-user-reboot']]);

/** Returns the script with this current or former name, or undefined if there is none. */
export function scriptNamed(scripts: readonly Script[], name: string): Script | undefined {
  const current = FORMER_NAMES.get(name);
  return scripts.find((script) => script.name === name) ?? scripts.find((script) => script.name === current);
}
