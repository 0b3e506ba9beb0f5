// Sessions of one entity → who holds which until when, and the state left in them.
import type { BrokerClock } from './broker-clock.ts';

export interface SessionLock {
  readonly id: string;
  /** Milliseconds since 1970. */
  until: number;
  /** Told when the lock runs out. */
  readonly lost: () => void;
}

export class SessionLocks {
  readonly #durationMs: number;
  readonly #clock: BrokerClock;
  readonly #released: (id: string) => void;
  readonly #held = new Map<string, { readonly lock: SessionLock; cancel: () => void }>();
  readonly #states = new Map<string, Buffer>();

  /** `released` hears of each session that can be taken again. */
  constructor(durationMs: number, clock: BrokerClock, released: (id: string) => void) {
    this.#durationMs = durationMs;
    this.#clock = clock;
    this.#released = released;
  }

  /** The lock on a session that someone holds. */
  of(id: string): SessionLock | undefined {
    return this.#held.get(id)?.lock;
  }

  /** Null where another one holds it. */
  accept(id: string, lost: () => void): SessionLock | null {
    if (this.#held.has(id)) return null;
    const lock: SessionLock = { id, until: this.#clock.now() + this.#durationMs, lost };
    this.#held.set(id, { lock, cancel: this.#expire(lock) });
    return lock;
  }

  /** The new end, or null where the session is not held. */
  renew(id: string): number | null {
    const held = this.#held.get(id);
    if (!held) return null;
    held.cancel();
    held.lock.until = this.#clock.now() + this.#durationMs;
    held.cancel = this.#expire(held.lock);
    return held.lock.until;
  }

  release(lock: SessionLock): void {
    const held = this.#held.get(lock.id);
    if (held?.lock !== lock) return;
    held.cancel();
    this.#held.delete(lock.id);
    this.#released(lock.id);
  }

  /** Loses every lock now. */
  expireAll(): void {
    for (const { lock } of [...this.#held.values()]) this.#lose(lock);
  }

  state(id: string): Buffer | null {
    return this.#states.get(id) ?? null;
  }

  setState(id: string, state: Buffer | null): void {
    if (state === null) this.#states.delete(id);
    else this.#states.set(id, state);
  }

  #expire(lock: SessionLock): () => void {
    return this.#clock.at(lock.until, () => this.#lose(lock));
  }

  #lose(lock: SessionLock): void {
    this.release(lock);
    lock.lost();
  }
}
