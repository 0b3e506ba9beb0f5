// Parked messages alone → the room that is left, the timers, and what waits.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ParkedMessages } from '../../../../src/approvals/inbox/parked-messages.ts';
import type { ReceivedMessage } from '../../../../src/model/approvals.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

/** A message of a source, with a body of so many bytes. */
function received(id: string, bytes = 10): ReceivedMessage {
  const receivedAt = { wallMs: 0, elapsedMs: 0 };
  return { source: 'topic', id, approver: 'orders', place: {}, body: new Uint8Array(bytes), sentMs: 0, receivedAt };
}

test('a source has room for exactly 4 MiB', () => {
  const parking = new ParkedMessages(new VirtualTime(), () => {});
  const [half, rest] = [received('half', 2 ** 21), received('rest', 2 ** 21)];
  parking.add(half);
  assert.equal(parking.hasRoom(rest), true);
  assert.equal(parking.hasRoom(received('larger', 2 ** 21 + 1)), false);
});

test('a message that leaves takes its timer with it, frees its room once, and is not over', () => {
  const time = new VirtualTime();
  const parking = new ParkedMessages(time, () => {});
  const [one, other] = [received('one', 2 ** 21), received('other', 2 ** 21)];
  parking.add(one);
  parking.add(other);
  assert.equal(time.pending, 2);
  for (let times = 0; times < 2; times++) parking.remove(one);
  assert.equal(time.pending, 1);
  assert.deepEqual(parking.messages(), [other]);
  assert.deepEqual(
    [2 ** 21, 2 ** 21 + 1].map((bytes) => parking.hasRoom(received('next', bytes))),
    [true, false],
  );
  assert.equal(parking.isExpired(one), false);
});

test('once it is disposed of, no message waits there, and none takes room', () => {
  const time = new VirtualTime();
  const parking = new ParkedMessages(time, () => {});
  parking.add(received('one', 2 ** 22));
  parking[Symbol.dispose]();
  assert.deepEqual([parking.messages(), time.pending, parking.hasRoom(received('next'))], [[], 0, true]);
});
