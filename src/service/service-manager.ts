// The polls and the state of a bridge → what systemd is told of them (behaviour 12).
import type { CancelTimer, Deps } from '../time/clock.ts';
import type { Notifier } from './notifier.ts';
import { PollPulse, type PollPulseParts } from './poll-pulse.ts';

interface ServiceManagerParts {
  /** Of the process: WATCHDOG_USEC and WATCHDOG_PID. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly notifier: Pick<Notifier, 'send' | 'isBusy'>;
  readonly limits: PollPulseParts['limits'];
  readonly deps: Pick<Deps, 'elapsedMs' | 'after'>;
}

/** A manager that started this process by `Type=notify`. */
export class ServiceManager {
  readonly #parts: ServiceManagerParts;
  readonly #pulse: PollPulse;
  /** Null where the unit has no watchdog. */
  readonly #watchdogMs: number | null;
  #phase: 'starting' | 'ready' | 'stopping' = 'starting';
  #isKicking = false;
  #told = '';
  #words = () => 'starting';
  #cancel: CancelTimer = () => {};

  constructor(parts: ServiceManagerParts) {
    this.#parts = parts;
    this.#pulse = new PollPulse({ elapsedMs: parts.deps.elapsedMs, limits: parts.limits });
    this.#watchdogMs = watchdogMs(parts);
  }

  /** From now on `words` tell the state. */
  describe(words: () => string): void {
    this.#words = words;
    this.#tellState();
  }

  readonly begins = (): void => this.#pulse.begins();

  readonly asks = (): void => {
    this.#pulse.asks();
    this.#ready();
  };

  readonly ended = (isDocument: boolean): void => {
    this.#pulse.ended(isDocument);
    this.#ready();
    this.#tellState();
  };

  readonly follows = (limits: PollPulseParts['limits']): void => this.#pulse.follow(limits);

  /** Tells that `work` is under way, and that it is over, however it ended. */
  async reloading(work: () => Promise<unknown>): Promise<void> {
    const wasReady = this.#phase === 'ready';
    if (wasReady) await this.#parts.notifier.send(['RELOADING=1']);
    // A refusal is in the log already, and so is a store that fails.
    await work().catch(() => {});
    if (wasReady && this.#phase === 'ready') await this.#send('READY=1', `STATUS=${this.#words()}`);
  }

  /** Resolves once it is told. */
  async stopping(): Promise<void> {
    this.#cancel();
    this.#phase = 'stopping';
    await this.#parts.notifier.send(['STOPPING=1', 'STATUS=ending: running deliveries may end']);
  }

  /** At the first request, or where none could leave at the first poll's end: whatever it is answered, the bridge runs. */
  #ready(): void {
    if (this.#phase !== 'starting') return;
    this.#phase = 'ready';
    this.#told = this.#words();
    void this.#send('READY=1', `STATUS=${this.#told}`);
    this.#watch();
  }

  /** Again and again while the poll loop turns; a loop that stands still, and one that never gets a turn, tell nothing. */
  #watch(): void {
    const limitMs = this.#watchdogMs;
    if (limitMs === null) return;
    this.#cancel = this.#parts.deps.after(limitMs / 3, () => {
      if (this.#pulse.isAlive(limitMs / 2)) void this.#kick();
      this.#watch();
    });
  }

  /** One waits at most, however slowly messages go. */
  async #kick(): Promise<void> {
    if (this.#isKicking) return;
    this.#isKicking = true;
    await this.#send('WATCHDOG=1');
    this.#isKicking = false;
  }

  /** Behind a message that is on its way. */
  #tellState(): void {
    const words = this.#words();
    if (this.#phase !== 'ready' || words === this.#told || this.#parts.notifier.isBusy) return;
    this.#told = words;
    void this.#send(`STATUS=${words}`);
  }

  async #send(...assignments: readonly string[]): Promise<void> {
    await this.#parts.notifier.send(assignments);
    this.#tellState();
  }
}

function watchdogMs({ env, pid }: Pick<ServiceManagerParts, 'env' | 'pid'>): number | null {
  const { WATCHDOG_USEC: usec = '', WATCHDOG_PID: forPid = String(pid) } = env;
  return /^[1-9]\d{0,15}$/.test(usec) && forPid === String(pid) ? Number(usec) / 1000 : null;
}
