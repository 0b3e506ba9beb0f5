// Readings of several networks → one at a time, and behind each a pause as long as it took.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ReadingTurns } from '../../../src/http/reading-turns.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const OPEN = new AbortController().signal;

/** A reading takes `tookMs`; `begun` has the moment at which each began. */
function fixture() {
  const time = new VirtualTime();
  const readings = new ReadingTurns(time);
  const begun: [name: string, atMs: number][] = [];
  const read = (network: string, name: string, tookMs: number) =>
    readings.take(
      network,
      () => {
        begun.push([name, time.elapsedMs()]);
        time.pass(tookMs);
        return name;
      },
      OPEN,
    );
  /** Goes on by single milliseconds, so that what is due begins at its own moment. */
  const advance = async (ms: number) => {
    for (let count = 0; count < ms; count++) await time.advance(1);
  };
  return { time, readings, begun, read, advance };
}

test('after a reading there is a pause as long as the reading, for which its caller does not wait', async () => {
  const { begun, read, advance } = fixture();
  const all = [read('a', 'a1', 30), read('a', 'a2', 5), read('b', 'b1', 10)];
  assert.equal(await all[0], 'a1');
  await advance(29);
  assert.deepEqual(begun, [['a1', 0]]);
  await advance(60);
  assert.deepEqual(await Promise.all(all), ['a1', 'a2', 'b1']);
  const [, [second, secondMs] = [], [third, thirdMs] = []] = begun;
  assert.deepEqual([second, third], ['a2', 'b1']);
  assert.ok(Number(secondMs) >= 60 && Number(thirdMs) >= Number(secondMs) + 10, JSON.stringify(begun));
});

test('the pause is 1 s at most, also if the machine slept for an hour in a reading', async () => {
  const { begun, read, advance } = fixture();
  const all = [read('a', 'a1', 3_600_000), read('b', 'b1', 1)];
  await all[0];
  await advance(999);
  assert.equal(begun.length, 1);
  await advance(10);
  assert.equal(begun.length, 2);
  await all[1];
});

test('a reading that fails, or whose caller has disconnected, ends its turn', async () => {
  const { readings, read, advance } = fixture();
  const gone = new AbortController();
  const failing = assert.rejects(
    readings.take('a', () => Promise.reject(new Error('no')), OPEN),
    /no/,
  );
  const leaving = assert.rejects(
    readings.take('b', () => assert.fail('it has gone'), gone.signal),
    /gone/,
  );
  const last = read('c', 'c1', 1);
  gone.abort(new Error('gone'));
  await Promise.all([failing, leaving]);
  await advance(1);
  assert.equal(await last, 'c1');
});
