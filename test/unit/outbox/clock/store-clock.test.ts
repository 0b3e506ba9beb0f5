// src/outbox/clock/store-clock.ts: what has passed, whatever clocks, processes and machines do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { StoreClock } from '../../../../src/outbox/clock/store-clock.ts';
import { Database } from '../../../../src/outbox/database.ts';
import { migrate } from '../../../../src/outbox/migrations/schema.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../../virtual/lane-fixture.ts';

/** A machine whose boots, clock and processes a test decides about, and the truth about them. */
class Machine {
  readonly #database = new Database(':memory:', { synchronous: 'OFF' });
  #wallOffsetMs = 0;
  #bootedMs = 0;
  trueMs = 0;
  /** In which a process ran whose time is not lost. */
  ranMs = 0;
  #unkeptMs = 0;
  clock: StoreClock;

  constructor() {
    migrate(this.#database);
    this.clock = this.#process();
  }

  run(ms: number): void {
    this.trueMs += ms;
    this.ranMs += ms;
    this.#unkeptMs += ms;
  }

  jump(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  keep(): void {
    this.clock.keep();
    this.#unkeptMs = 0;
  }

  /** Killed, and started again while the machine goes on. */
  restart(afterMs: number): void {
    this.ranMs -= this.#unkeptMs;
    this.trueMs += afterMs;
    this.clock = this.#process();
    // As the bridge does.
    this.keep();
  }

  /** Off for so long, and the bridge started so long after the boot. */
  reboot(offMs: number, afterMs: number): void {
    this.trueMs += offMs;
    this.#bootedMs = this.trueMs;
    this.restart(afterMs);
  }

  /** The store put on a machine that has been up for so long. */
  move(upMs: number): void {
    this.#bootedMs = this.trueMs - upMs;
    this.restart(0);
  }

  #process(): StoreClock {
    const elapsedMs = () => this.trueMs - this.#bootedMs;
    return new StoreClock(this.#database, { wallMs: () => this.trueMs + this.#wallOffsetMs, elapsedMs });
  }
}

test('time continues across restarts while the machine runs, stored or not', () => {
  const machine = new Machine();
  machine.keep();
  machine.run(HOUR);
  machine.restart(MINUTE);
  assert.equal(machine.clock.nowMs(), HOUR + MINUTE);
  machine.restart(SECOND);
  assert.equal(machine.clock.nowMs(), HOUR + MINUTE + SECOND);
});

test('a process that starts at the very moment of the stored clocks adds no time, whatever the date', () => {
  const machine = new Machine();
  machine.run(HOUR);
  machine.keep();
  machine.jump(DAY);
  machine.restart(0);
  assert.equal(machine.clock.nowMs(), HOUR);
});

test('a store without clocks of a process begins with its stored time, however long the machine is up', () => {
  using database = new Database(':memory:', { synchronous: 'OFF' });
  migrate(database);
  database.exec('UPDATE store_clock SET at_ms = 5000');
  const clock = new StoreClock(database, { wallMs: () => DAY, elapsedMs: () => HOUR });
  assert.deepEqual([clock.nowMs(), clock.dateMs(2000), clock.dateMs(null)], [5000, DAY - 3000, null]);
});

test('after a boot, the stored time continues with the time since the boot', () => {
  const machine = new Machine();
  machine.run(HOUR);
  machine.keep();
  machine.reboot(3 * DAY, MINUTE);
  assert.equal(machine.clock.nowMs(), HOUR + MINUTE);
  machine.run(DAY);
  assert.equal(machine.clock.nowMs(), DAY + HOUR + MINUTE);
});

test('a store that is moved to a machine with a longer or shorter uptime does not age by that', () => {
  const machine = new Machine();
  machine.run(DAY);
  machine.keep();
  machine.run(MINUTE);
  machine.move(300 * DAY);
  assert.equal(machine.clock.nowMs(), DAY + MINUTE);
  machine.move(30 * DAY);
  assert.equal(machine.clock.nowMs(), DAY + MINUTE);
});

test('after a boot with a clock that is years behind, the stored time continues', () => {
  const machine = new Machine();
  machine.run(DAY);
  machine.keep();
  machine.jump(-50 * 365 * DAY);
  machine.reboot(HOUR, MINUTE);
  assert.equal(machine.clock.nowMs(), DAY);
  machine.run(HOUR);
  assert.equal(machine.clock.nowMs(), DAY + HOUR);
});

test('the date of a moment follows the current clock, and is never ahead of it', () => {
  const machine = new Machine();
  machine.run(HOUR);
  const atMs = machine.clock.nowMs();
  machine.run(MINUTE);
  machine.jump(DAY);
  assert.equal(machine.clock.dateMs(atMs), machine.clock.wallMs() - MINUTE);
  assert.equal(machine.clock.dateMs(atMs + HOUR), machine.clock.wallMs());
});

const ms = fc.integer({ min: 0, max: 3 * DAY });
const step = fc.oneof(
  fc.record({ kind: fc.constant('run' as const), ms }),
  fc.record({ kind: fc.constant('jump' as const), ms: fc.integer({ min: -60 * 365 * DAY, max: 60 * 365 * DAY }) }),
  fc.record({ kind: fc.constant('keep' as const), ms }),
  fc.record({ kind: fc.constant('restart' as const), ms }),
  fc.record({ kind: fc.constant('reboot' as const), ms, after: ms }),
);

test('after any jumps, restarts and boots no age exceeds the real one, or is less than the time that processes have run', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const machine = new Machine();
      machine.keep();
      const queued: { readonly atMs: number; readonly trueMs: number; readonly ranMs: number }[] = [];
      for (const one of steps) {
        queued.push({ atMs: machine.clock.nowMs(), trueMs: machine.trueMs, ranMs: machine.ranMs });
        if (one.kind === 'keep') machine.keep();
        else if (one.kind === 'reboot') machine.reboot(one.ms, one.after);
        else machine[one.kind](one.ms);
        for (const { atMs, trueMs, ranMs } of queued) {
          const ageMs = machine.clock.nowMs() - atMs;
          assert.ok(ageMs <= machine.trueMs - trueMs, `${ageMs} ms old, ${machine.trueMs - trueMs} in truth`);
          assert.ok(ageMs >= machine.ranMs - ranMs, `${ageMs} ms old, though a process ran ${machine.ranMs - ranMs}`);
        }
      }
    }),
  );
});
