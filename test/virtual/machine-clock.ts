// Time that several machines share → the clocks and timers of one, which can stand still and jump.
import type { Deps } from '../../src/time/clock.ts';
import { schedulerOn } from '../../src/time/system.ts';

type Clocks = Pick<Deps, 'wallMs' | 'elapsedMs' | 'after'>;

/** The clocks and timers of one machine. Its timers are never early. */
export class MachineClock implements Clocks {
  /** The wall clock's difference from the shared one, in milliseconds. */
  skewMs = 0;
  readonly elapsedMs: () => number;
  readonly #time: Clocks;
  /** What fell due while the machine was frozen; null while it runs. */
  #late: (() => void)[] | null = null;

  constructor(time: Clocks) {
    this.#time = time;
    this.elapsedMs = time.elapsedMs;
  }

  get isFrozen(): boolean {
    return this.#late !== null;
  }

  readonly wallMs = (): number => this.#time.wallMs() + this.skewMs;

  readonly after = (delayMs: number, run: () => void): (() => void) => {
    let isCancelled = false;
    const cancel = this.#time.after(Math.ceil(delayMs), () => this.run(() => isCancelled || run()));
    return () => {
      isCancelled = true;
      cancel();
    };
  };

  /** Runs the work now, or when the machine runs again. */
  run(work: () => void): void {
    if (this.#late) this.#late.push(work);
    else work();
  }

  freeze(): void {
    this.#late ??= [];
  }

  thaw(): void {
    const late = this.#late ?? [];
    this.#late = null;
    for (const work of late) work();
  }

  /** Returns the time and chance of one process; the random numbers are its own. */
  deps(random: () => number): Deps {
    const clocks = { wallMs: this.wallMs, elapsedMs: this.elapsedMs, after: this.after };
    return { ...clocks, random, scheduler: schedulerOn(clocks) };
  }
}
