// Instance metadata, store, configuration → the identity of this VM and its CloudEvents source.
import type { Logger } from 'pino';
import { toObservedVm } from '../cloudevents/data.ts';
import { isAbort } from '../errors.ts';
import type { InstanceAnswer } from '../metadata/instance.ts';
import type { Observer } from '../model/events.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { type Deps, sleep } from '../time/clock.ts';

/**
 * After this time without an answer of the instance route, a stored state is compared without the vmId (behaviour
 * 4.12).
 */
const SILENT_AFTER_MS = 60_000;
/**
 * After this time, new events are published without the vmId, because an event may give 30 s of notice. Such a
 * comparison ends no event.
 */
const PRESUMED_AFTER_MS = 5_000;
/** How long the first CloudEvents of a new store wait for the VM's name if their source is configured. */
const NAMELESS_AFTER_MS = 3000;
const LONGEST_PAUSE_MS = 10_000;
/** If the route does not exist, the bridge asks again at this interval: the service may be in an update. */
const ABSENT_PAUSE_MS = 60_000;
/** Tags may change while the VM runs. Everything else changes only with a start. */
const TAGS_PAUSE_MS = 600_000;

interface IdentityParts {
  readonly outbox: Outbox;
  /** `cloudevents.source`: null for the scope alone, `vm` for the scope with the VM, else the source itself. */
  readonly configuredSource: string | null;
  /** `cloudevents.observer`. */
  readonly observerFields: readonly string[];
  readonly instance: (signal: AbortSignal) => Promise<InstanceAnswer>;
  readonly deps: Deps;
  readonly logger: Logger;
  /** Sets aside a store of another VM. No event of the store has ended yet, but `presumed` may have resolved. */
  readonly foreign: (vmId: string) => Promise<void>;
}

/**
 * Asks until the VM is identified. After `presumed` and `identified`, documents may be compared and CloudEvents
 * created.
 */
export class Identity {
  readonly #parts: IdentityParts;
  readonly #presumed = Promise.withResolvers<void>();
  readonly #ready = Promise.withResolvers<void>();
  #isPresumed = false;
  #isIdentified = false;
  /** The store belongs to another VM, and is not set aside yet. */
  #isForeign = false;
  /** Whether the store certainly belongs to this VM. */
  #isOurs = false;
  #isAbsent = false;
  /** The `Retry-After` of the last answer. */
  #askedPauseMs = 0;
  #isNameless = false;
  #fault: string | null = null;

  constructor(parts: IdentityParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the source is known and the store presumably belongs to this VM. No event ends before `identified`.
   */
  get presumed(): Promise<void> {
    return this.#presumed.promise;
  }

  /** Resolves when the source is known and nothing indicates that the store belongs to another VM. */
  get identified(): Promise<void> {
    return this.#ready.promise;
  }

  /** Becomes false again if the store turns out to belong to another VM. */
  get isPresumed(): boolean {
    return this.#isPresumed || this.#isIdentified;
  }

  get isIdentified(): boolean {
    return this.#isIdentified;
  }

  /** Why the last request for instance metadata did not identify the VM, and what to do; null before an answer. */
  get fault(): string | null {
    return this.#fault;
  }

  get observer(): Observer {
    const { name, vm: stored, observerId } = this.#parts.outbox.identity.current;
    const vm = toObservedVm(stored, this.#parts.observerFields);
    return { name, id: name?.toLowerCase() ?? observerId, ...(vm && { vm }) };
  }

  /** The CloudEvents' `source` attribute; null while unknown. */
  get source(): string | null {
    const { configuredSource, outbox } = this.#parts;
    if (configuredSource !== null && configuredSource !== 'vm') return configuredSource;
    const { source, name } = outbox.identity.current;
    if (source === null || configuredSource === null) return source;
    return name === null ? null : `${source}/virtualmachines/${encodeURIComponent(name.toLowerCase())}`;
  }

  /** Runs until the VM is known or, if CloudEvents include its metadata, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const isNew = this.#parts.outbox.known.load().lastGoodAt === null;
    const waitMs = isNew ? NAMELESS_AFTER_MS : SILENT_AFTER_MS;
    const timers = [this.#parts.deps.after(waitMs, () => this.#giveUpWaiting(waitMs))];
    if (!isNew) timers.push(this.#parts.deps.after(PRESUMED_AFTER_MS, () => this.#presume()));
    try {
      for (let pauseMs = 1000; !(await this.#ask(signal)); pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
        await sleep(this.#parts.deps, this.#isAbsent ? ABSENT_PAUSE_MS : Math.max(pauseMs, this.#askedPauseMs), signal);
      }
      while (this.#parts.observerFields.length > 0) {
        await sleep(this.#parts.deps, TAGS_PAUSE_MS, signal);
        await this.#refresh(signal);
      }
    } catch (error) {
      if (!isAbort(error) && !signal.aborted) throw error;
    } finally {
      for (const cancel of timers) cancel();
    }
  }

  /** True when nothing is left to find out. */
  async #ask(signal: AbortSignal): Promise<boolean> {
    const { outbox, logger } = this.#parts;
    const answer = await this.#parts.instance(signal);
    this.#fault = faultOf(answer);
    this.#askedPauseMs = answer.kind === 'failed' ? Math.min(answer.error.retryAfterMs ?? 0, LONGEST_PAUSE_MS) : 0;
    if (answer.kind === 'known') {
      try {
        await this.#know(answer);
      } catch (error) {
        if (isAbort(error)) throw error;
        logger.error({ err: error }, 'the identity of this VM could not be stored: the bridge retries in some seconds');
        return false;
      }
      this.#settle();
      if (this.#isIdentified) return true;
      if (!this.#isNameless)
        logger.error('instance metadata has no scope for the source of the CloudEvents: set cloudevents.source');
      this.#isNameless = true;
      return false;
    }
    if (answer.kind === 'absent' && !this.#isAbsent) {
      this.#isAbsent = true;
      this.#isOurs = true;
      this.#settle();
      if (this.source === null)
        logger.error(
          { status: answer.status },
          'there is no instance metadata here, so the source of the CloudEvents is unknown: set cloudevents.source',
        );
      else if (outbox.identity.current.name === null)
        logger.warn({ status: answer.status }, "there is no instance metadata here: the VM's own name stays unknown");
    } else if (answer.kind === 'failed') {
      logger.debug({ err: answer.error }, 'instance metadata could not be read, asking again');
    }
    return false;
  }

  async #know({ vmId, name, source, vm }: Extract<InstanceAnswer, { kind: 'known' }>): Promise<void> {
    const { outbox, logger } = this.#parts;
    const stored = outbox.identity.current;
    if (stored.vmId !== null && vmId !== null && stored.vmId !== vmId) {
      if (this.#isIdentified)
        logger.error(
          { stored: stored.vmId, vmId },
          'the store belonged to another VM, which was learned too late to set its state aside',
        );
      else await this.#setAside(vmId);
    }
    outbox.identity.save({
      ...(vmId === null ? {} : { vmId }),
      ...(name === null ? {} : { name }),
      ...(source === null ? {} : { source }),
      vm: toObservedVm(vm, this.#parts.observerFields),
    });
    this.#isOurs = true;
  }

  async #setAside(vmId: string): Promise<void> {
    this.#isPresumed = false;
    this.#isForeign = true;
    await this.#parts.foreign(vmId);
    this.#isForeign = false;
  }

  /**
   * Updates the metadata of the VM. Its name and the source stay until the next start, so that all changes of an event
   * have the same.
   */
  async #refresh(signal: AbortSignal): Promise<void> {
    const { outbox, observerFields, logger } = this.#parts;
    const answer = await this.#parts.instance(signal);
    const { vmId, vm: stored } = outbox.identity.current;
    if (answer.kind !== 'known' || answer.vmId !== vmId) return;
    const vm = toObservedVm(answer.vm, observerFields);
    if (JSON.stringify(vm) === JSON.stringify(stored)) return;
    try {
      outbox.identity.save({ vm });
      logger.info({ vm }, "the VM's instance metadata have changed");
    } catch (error) {
      logger.error({ err: error }, "the VM's changed instance metadata could not be stored: tried again in 10 minutes");
    }
  }

  #presume(): void {
    if (this.#isOurs || this.#isForeign || this.source === null) return;
    this.#parts.logger.warn(
      `instance metadata did not answer for ${PRESUMED_AFTER_MS / 1000} s: what is new is published as if the store were this VM's own; what has ended waits until that is known, or for ${SILENT_AFTER_MS / 1000} s in all`,
    );
    this.#isPresumed = true;
    this.#presumed.resolve();
  }

  #giveUpWaiting(waitedMs: number): void {
    if (this.#isOurs || this.#isForeign) return;
    this.#parts.logger.warn(
      `instance metadata did not answer for ${waitedMs / 1000} s: what is stored is taken for this VM's own, and its name is unknown unless stored`,
    );
    this.#isOurs = true;
    this.#settle();
  }

  #settle(): void {
    if (this.#isIdentified || !this.#isOurs || this.source === null) return;
    this.#isIdentified = true;
    this.#parts.logger.info({ vm: this.observer.name, source: this.source }, 'this machine is identified');
    this.#presumed.resolve();
    this.#ready.resolve();
  }
}

function faultOf(answer: InstanceAnswer): string | null {
  if (answer.kind === 'failed') return answer.error.message;
  if (answer.kind === 'absent')
    return `the metadata service answered ${answer.status} for instance metadata: set cloudevents.source, or correct metadata.endpoint`;
  return answer.source === null
    ? 'instance metadata have no scope for the source of the CloudEvents: set cloudevents.source'
    : null;
}
