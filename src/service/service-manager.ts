// Polls and state of a bridge → notifications to systemd (behaviour 12).
import type { CancelTimer, Deps } from '../time/clock.ts';
import type { Notifier } from './notifier.ts';
import { PollPulse, type PollPulseParts } from './poll-pulse.ts';

interface ServiceManagerParts {
  /** The environment of the process: WATCHDOG_USEC and WATCHDOG_PID. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly notifier: Pick<Notifier, 'send' | 'isBusy'>;
  readonly limits: PollPulseParts['limits'];
  readonly deps: Pick<Deps, 'elapsedMs' | 'after'>;
}

/** Notifies the manager that started this process with `Type=notify`. */
export class ServiceManager {
  readonly #parts: ServiceManagerParts;
  readonly #pulse: PollPulse;
  /** Null if the unit has no watchdog. */
  readonly #watchdogMs: number | null;
  #phase: 'starting' | 'ready' | 'stopping' = 'starting';
  #isWatchdogPending = false;
  /** Reloads that systemd was notified of and that have not ended. */
  #reloads = 0;
  #sentStatus = '';
  #status = () => 'starting';
  #cancel: CancelTimer = () => {};

  constructor(parts: ServiceManagerParts) {
    this.#parts = parts;
    this.#pulse = new PollPulse({ elapsedMs: parts.deps.elapsedMs, limits: parts.limits });
    this.#watchdogMs = watchdogMs(parts);
  }

  /** Sets the function that returns the status text. */
  describe(status: () => string): void {
    this.#status = status;
    this.#sendStatus();
  }

  readonly begins = (): void => this.#pulse.begins();

  readonly asks = (): void => {
    this.#pulse.asks();
    this.#ready();
  };

  readonly ended = (isDocument: boolean): void => {
    this.#pulse.ended(isDocument);
    this.#ready();
    this.#sendStatus();
  };

  readonly follows = (limits: PollPulseParts['limits']): void => this.#pulse.follow(limits);

  /**
   * Notifies systemd of the start and the end of a reload, whether `work` succeeds or not. Reloads that overlap are
   * reported as one, because each message starts a program.
   */
  async reloading(work: () => Promise<unknown>): Promise<void> {
    const wasReady = this.#phase === 'ready';
    if (wasReady) {
      this.#reloads += 1;
      if (this.#reloads === 1) await this.#parts.notifier.send(['RELOADING=1']);
    }
    // The bridge has already logged a rejected reload or a failed store.
    await work().catch(() => {});
    if (!wasReady) return;
    this.#reloads -= 1;
    if (this.#reloads === 0 && this.#phase === 'ready') await this.#send('READY=1', `STATUS=${this.#status()}`);
  }

  /** Resolves once systemd has read the notification. */
  async stopping(): Promise<void> {
    this.#cancel();
    this.#phase = 'stopping';
    await this.#parts.notifier.send(['STOPPING=1', 'STATUS=stopping: waiting for running deliveries']);
  }

  /**
   * Ready at the first request, or at the end of the first poll if none could be sent: the bridge runs, whatever the
   * answer.
   */
  #ready(): void {
    if (this.#phase !== 'starting') return;
    this.#phase = 'ready';
    this.#sentStatus = this.#status();
    void this.#send('READY=1', `STATUS=${this.#sentStatus}`);
    this.#watch();
  }

  /** Sends WATCHDOG=1 repeatedly while the poll loop makes progress. A loop or process that hangs sends nothing. */
  #watch(): void {
    const limitMs = this.#watchdogMs;
    if (limitMs === null) return;
    this.#cancel = this.#parts.deps.after(limitMs / 3, () => {
      if (this.#pulse.isAlive(limitMs / 2)) void this.#sendWatchdog();
      this.#watch();
    });
  }

  /** At most one is pending, even if messages are slow. */
  async #sendWatchdog(): Promise<void> {
    if (this.#isWatchdogPending) return;
    this.#isWatchdogPending = true;
    await this.#send('WATCHDOG=1');
    this.#isWatchdogPending = false;
  }

  /** Waits for a message that is being sent. */
  #sendStatus(): void {
    const status = this.#status();
    if (this.#phase !== 'ready' || status === this.#sentStatus || this.#parts.notifier.isBusy) return;
    this.#sentStatus = status;
    void this.#send(`STATUS=${status}`);
  }

  async #send(...assignments: readonly string[]): Promise<void> {
    await this.#parts.notifier.send(assignments);
    this.#sendStatus();
  }
}

function watchdogMs({ env, pid }: Pick<ServiceManagerParts, 'env' | 'pid'>): number | null {
  const { WATCHDOG_USEC: usec = '', WATCHDOG_PID: forPid = String(pid) } = env;
  return /^[1-9]\d{0,15}$/.test(usec) && forPid === String(pid) ? Number(usec) / 1000 : null;
}
