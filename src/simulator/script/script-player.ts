// Scripts and simulated time → their steps, played on the group.
import { parseNotBefore } from '../../formats/dates.ts';
import type { Activation } from '../events/activation.ts';
import { type EventFields, rfc1123, type WireEvent } from '../events/event.ts';
import { type EventStore, isRefusal } from '../events/event-store.ts';
import type { Faults, OrderedFault } from '../events/faults.ts';
import type { Machine } from '../events/machine.ts';
import type { Action, Script } from './script.ts';

/** The parts of a group that a script changes. */
interface ScriptTarget {
  readonly machines: readonly Machine[];
  readonly events: EventStore;
  readonly faults: Faults;
  readonly activation: Activation;
}

interface Run {
  readonly script: Script;
  /** The start of the current round. */
  startedAtMs: number;
  nextStep: number;
  /** Whether the script ordered a fault, which ends with it. */
  isFaulting: boolean;
  /** The events that it scheduled and that may still be listed. */
  eventIds: string[];
  /** EventIds by their name in the script. */
  readonly named: Map<string, readonly string[]>;
}

/** Plays one script at a time. All times are simulated milliseconds. */
export class ScriptPlayer {
  readonly #target: ScriptTarget;
  #run: Run | null = null;

  constructor(target: ScriptTarget) {
    this.#target = target;
  }

  /** Starts a script. Drops the steps and faults of the running one and withdraws its events. */
  start(script: Script, atMs: number): void {
    const { events, faults } = this.#target;
    if (this.#run?.isFaulting) faults.order([], atMs);
    events.view.asOneChange(() => {
      events.withdraw(atMs, this.#run?.eventIds ?? []);
      this.#run = { script, startedAtMs: atMs, nextStep: 0, isFaulting: false, eventIds: [], named: new Map() };
      this.runDue(atMs);
    });
  }

  /** Drops the remaining steps; keeps the events. */
  stop(): void {
    this.#run = null;
  }

  /** Returns the running script, or null if it has no more steps and none of its events is listed. */
  running(): { readonly script: Script; readonly startedAtMs: number } | null {
    const run = this.#run;
    if (!run) return null;
    return this.nextDueMs() !== null || run.eventIds.some((id) => this.#target.events.has(id)) ? run : null;
  }

  /** Returns when the next step is due, or null if there is none. */
  nextDueMs(): number | null {
    if (!this.#run) return null;
    const { script, startedAtMs, nextStep } = this.#run;
    const step = script.steps[nextStep];
    if (step) return startedAtMs + step.afterMs;
    return script.everyMs === undefined ? null : startedAtMs + script.everyMs;
  }

  /** Runs the steps that are due at `atMs`. */
  runDue(atMs: number): void {
    for (let dueMs = this.nextDueMs(); this.#run && dueMs !== null && dueMs <= atMs; dueMs = this.nextDueMs()) {
      const step = this.#run.script.steps[this.#run.nextStep];
      if (step) {
        this.#run.nextStep++;
        this.#act(this.#run, step.action, dueMs);
      } else {
        this.#run.startedAtMs = dueMs;
        this.#run.nextStep = 0;
        this.#run.eventIds = this.#run.eventIds.filter((id) => this.#target.events.has(id));
      }
    }
  }

  #act(run: Run, action: Action, atMs: number): void {
    const { events, activation } = this.#target;
    if (action.kind === 'schedule') this.#schedule(run, action, atMs);
    else if (action.kind === 'document') this.#replay(run, action, atMs);
    else if (action.kind === 'fault') this.#fault(run, action.orders, atMs);
    else if (action.kind === 'incarnation')
      events.view.setIncarnation(action.skip === 'restart' ? 1 : events.view.incarnation + action.skip);
    else if (action.kind === 'switchOff') activation.switchOff();
    else this.#move(run, action, atMs);
  }

  /** Applies an action to each event of that name; skips actions that are no longer possible. */
  #move(run: Run, action: Action & { event: string }, atMs: number): void {
    const { events } = this.#target;
    for (const eventId of run.named.get(action.event) ?? []) {
      if (action.kind === 'change') events.change(eventId, this.#resolved(action.fields), atMs);
      else if (action.kind === 'start') events.start(eventId, atMs);
      else if (action.kind === 'end') events.end(eventId, atMs);
      else events.cancel(eventId, atMs);
    }
  }

  #schedule(run: Run, { as, fields, count = 1 }: Action & { kind: 'schedule' }, atMs: number): void {
    const { events } = this.#target;
    const resolved = this.#resolved(fields);
    if (fields.Resources?.length && !resolved.Resources?.length) return;
    const eventIds: string[] = [];
    for (let left = count; left > 0; left--) {
      const event = events.schedule(resolved, atMs);
      if (!isRefusal(event)) eventIds.push(event.EventId);
    }
    run.eventIds.push(...eventIds);
    if (as !== undefined) run.named.set(as, eventIds);
  }

  #replay(run: Run, { incarnation, events }: Action & { kind: 'document' }, atMs: number): void {
    const { startedAtMs, script } = run;
    const store = this.#target.events;
    const moved = (event: WireEvent, laterMs: number) => movedDate(event, laterMs - store.aheadMsOf(event.EventId));
    const { recordedAtMs } = script;
    const played =
      recordedAtMs === undefined ? events : events.map((event) => moved(event, startedAtMs - recordedAtMs));
    store.replay(incarnation, played, atMs);
    run.eventIds = played.map(({ EventId }) => EventId);
  }

  #fault(run: Run, orders: readonly OrderedFault[], atMs: number): void {
    run.isFaulting = orders.length > 0;
    const named = orders.map((order) => {
      const [vm] = order.vm === undefined ? [] : this.#names([order.vm]);
      return vm === undefined ? order : { ...order, vm };
    });
    this.#target.faults.order(named, atMs);
  }

  #resolved(fields: EventFields): EventFields {
    const { Resources, seen } = fields;
    return {
      ...fields,
      ...(Resources ? { Resources: this.#names(Resources) } : {}),
      ...(seen ? { seen: this.#names(seen) } : {}),
    };
  }

  /** Replaces `vm:N` and `fd:N` by machines' names and removes duplicates. */
  #names(names: readonly string[]): readonly string[] {
    const { machines } = this.#target;
    const resolved = names.flatMap((name) => {
      const [, kind, digits] = /^(vm|fd):(\d+)$/.exec(name) ?? [];
      const number = Number(digits);
      if (kind === 'vm') return machines[number % machines.length]?.name ?? [];
      return kind === 'fd'
        ? machines.filter(({ faultDomain }) => faultDomain === number).map((machine) => machine.name)
        : name;
    });
    return [...new Set(resolved)];
  }
}

/** Moves NotBefore by a time, rounded down to whole seconds. */
function movedDate(event: WireEvent, byMs: number): WireEvent {
  const date = parseNotBefore(event.NotBefore);
  return date === null ? event : { ...event, NotBefore: rfc1123(Date.parse(date) + Math.floor(byMs / 1000) * 1000) };
}
