// Readers that stop reading, come in crowds, lose their rights, or are there when the bridge stops.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import type { AnswerStream } from '../../../../src/http/route.ts';
import { Streams } from '../../../../src/http/stream/streams.ts';
import type { JournalledEntry } from '../../../../src/model/events.ts';
import { readStream } from '../../../support/event-stream.ts';
import { READER, serve } from '../../../virtual/http-fixture.ts';
import { entry } from '../../../virtual/outbox-fixture.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

function large(position: number, bytes: number): JournalledEntry {
  return { ...entry(`e${position}:1`, { data: { description: 'x'.repeat(bytes) } }), position };
}

const turns = async (count = 200) => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};

/** A socket that takes what the test lets it. */
class FakeAnswer implements AnswerStream {
  readonly written: string[] = [];
  unsentBytes = 0;
  isTaking = true;
  /** False: its client is slow to take the rest, so that the connection stays for a while. */
  isClosedAtEnd = true;
  became: 'ended' | 'dropped' | null = null;
  #drain = () => {};
  #close = () => {};

  write(bytes: Uint8Array | string): boolean {
    assert.equal(this.became, null, 'nothing is written behind the end, which a real response answers with an error');
    this.written.push(Buffer.from(bytes).toString());
    if (!this.isTaking) this.unsentBytes += Buffer.byteLength(bytes);
    return this.unsentBytes === 0;
  }

  get positions(): number[] {
    return this.written.flatMap((text) => /^id: (\d+)/.exec(text)?.slice(1).map(Number) ?? []);
  }

  take(): void {
    this.unsentBytes = 0;
    this.#drain();
  }

  onDrain(run: () => void): void {
    this.#drain = run;
  }

  onClose(run: () => void): void {
    this.#close = run;
  }

  end(): void {
    this.became = 'ended';
    if (this.isClosedAtEnd) this.#close();
  }

  drop(): void {
    this.became = 'dropped';
    this.#close();
  }
}

function fixture() {
  const time = new VirtualTime();
  const rows: JournalledEntry[] = [];
  const reads: number[] = [];
  const state = { pruned: 0, rows, reads };
  const journal = {
    listed: () => [],
    notice: ({ key }: { readonly key: string }, position: number) =>
      rows.findLast((row) => row.key === key && row.position <= position) ?? null,
    newest: () => rows.at(-1)?.position ?? 0,
    pruned: () => state.pruned,
    after: (position: number, limit: number) => {
      reads.push(position);
      return rows.filter((row) => row.position > position && row.position > state.pruned).slice(0, limit);
    },
  };
  const streams = new Streams({ journal, deps: time, logger: pino({ level: 'silent' }) });
  const commit = (...entries: JournalledEntry[]) => {
    rows.push(...entries);
    streams.committed(entries);
  };
  const open = (after: number | null = null, isStillAllowed: (() => Promise<boolean>) | null = null) => {
    const answer = new FakeAnswer();
    streams.open(answer, { filter: () => true, after, position: after ?? streams.newest(), isStillAllowed, share: '' });
    return answer;
  };
  const openListed = (keys: readonly string[], isTaking = true) => {
    const answer = new FakeAnswer();
    answer.isTaking = isTaking;
    const listed = keys.map((key) => ({ key, occurrence: 1 }));
    const position = streams.newest();
    streams.open(answer, { filter: () => true, after: null, position, listed, isStillAllowed: null, share: '' });
    return answer;
  };
  return { time, streams, commit, open, openListed, state };
}

test('a reader whose socket accepts nothing is cut off once 1 MiB is due, and the others have received everything', async () => {
  const { commit, open } = fixture();
  const [quick, stuck] = [open(), open()];
  await turns();
  stuck.isTaking = false;
  for (let position = 1; position <= 30; position++) {
    commit(large(position, 64 * 1024));
    await turns(5);
  }
  assert.equal(stuck.became, 'dropped');
  assert.ok(stuck.positions.length <= 2, 'it is written no more than what shows that its socket is full');
  assert.equal(quick.became, null);
  assert.equal(quick.positions.length, 30);
});

test('a heart-beat gives no position before a slow reader has got all listed events, and nothing is missing or repeated', async () => {
  const { time, commit, openListed } = fixture();
  commit(...Array.from({ length: 40 }, (_, index) => ({ ...large(index + 1, 200), key: `k${index}` })), large(41, 10));
  const reader = openListed(
    Array.from({ length: 40 }, (_, index) => `k${39 - index}`),
    false,
  );
  await turns(20);
  commit(large(42, 10));
  await time.advance(15_000);
  await turns(20);
  assert.equal(reader.positions.length, 1, 'its socket is full');
  reader.isTaking = true;
  reader.take();
  await turns(50);
  assert.deepEqual(reader.positions, [...Array.from({ length: 40 }, (_, index) => index + 1), 42]);
  const positionAt = reader.written.indexOf(':\nid: 41\n\n');
  assert.equal(reader.written.slice(0, positionAt).filter((text) => text.startsWith('id: ')).length, 40);
});

test('five thousand listed events take no turn of the event loop alone, and come in order', async () => {
  const { commit, openListed } = fixture();
  commit(...Array.from({ length: 5000 }, (_, index) => ({ ...large(index + 1, 10), key: `k${index % 2500}` })));
  const reader = openListed(Array.from({ length: 2500 }, (_, index) => `k${index}`));
  await turns(50);
  assert.ok(reader.positions.length < 2500);
  await turns(1000);
  assert.deepEqual(
    reader.positions,
    Array.from({ length: 2500 }, (_, index) => 2501 + index),
  );
});

test('one large commit and a long past are paced: a reader that takes slowly gets all of it, in order, and is not cut off', async () => {
  const { commit, open } = fixture();
  commit(...Array.from({ length: 40 }, (_, index) => large(index + 1, 64 * 1024)));
  const [behind, live] = [open(0), open()];
  for (const answer of [behind, live]) answer.isTaking = false;
  commit(...Array.from({ length: 40 }, (_, index) => large(index + 41, 64 * 1024)));
  for (let count = 0; count < 200; count++) {
    await turns(3);
    assert.ok(
      behind.unsentBytes + live.unsentBytes < 300_000,
      'no more is written than one event beyond what was taken',
    );
    behind.take();
    live.take();
  }
  assert.deepEqual([behind.became, live.became], [null, null]);
  assert.equal(behind.positions.length, 80);
  assert.deepEqual(
    live.positions,
    Array.from({ length: 40 }, (_, index) => index + 41),
  );
});

test('a socket that stays full for three heart-beats is closed', async () => {
  const { time, commit, open } = fixture();
  const stuck = open();
  stuck.isTaking = false;
  commit(large(1, 100));
  await turns();
  for (let beat = 0; beat < 2; beat++) {
    await time.advance(15_000);
    await turns();
  }
  assert.equal(stuck.became, null);
  await time.advance(15_000);
  await turns();
  assert.equal(stuck.became, 'dropped');
});

test('a comment comes every 15 s by one timer for all, with the position for a reader that has none yet', async () => {
  const { time, commit, open } = fixture();
  commit(large(1, 10));
  const [one, other] = [open(), open(0)];
  await turns();
  await time.advance(15_000);
  await turns();
  assert.deepEqual(one.written, [':\n\n', ':\nid: 1\n\n']);
  assert.equal(other.written.at(-1), ':\n\n');
  await time.advance(15_000);
  await turns();
  assert.equal(one.written.at(-1), ':\n\n');
});

test('however long the filters of a crowd take, no turn of the event loop takes longer than one filter more than its share', async () => {
  const { streams, commit, time } = fixture();
  commit(...Array.from({ length: 40 }, (_, index) => large(index + 1, 100)));
  const filter = () => {
    time.pass(4);
    return true;
  };
  const crowd = Array.from({ length: 50 }, () => {
    const answer = new FakeAnswer();
    streams.open(answer, { filter, after: 0, position: 0, isStillAllowed: null, share: '' });
    return answer;
  });
  const stuck = crowd.slice(0, 25);
  let longestMs = 0;
  const turnsUntil = async (isOver: () => boolean) => {
    while (!isOver()) {
      const sinceMs = time.elapsedMs();
      await turns(1);
      longestMs = Math.max(longestMs, time.elapsedMs() - sinceMs);
    }
  };
  await turnsUntil(() => crowd.every(({ positions }) => positions.length === 40));
  for (const answer of stuck) answer.isTaking = false;
  commit(large(41, 100));
  await turnsUntil(() => crowd.every(({ positions }) => positions.length === 41));
  // What is due to those that take nothing is counted, by their filters, too.
  const sinceMs = time.elapsedMs();
  commit(...Array.from({ length: 40 }, (_, index) => large(index + 42, 100)));
  longestMs = Math.max(longestMs, time.elapsedMs() - sinceMs);
  await turnsUntil(() => crowd.slice(25).every(({ positions }) => positions.length === 81));
  assert.ok(longestMs <= 16, `${longestMs} ms in one turn`);
});

test('a crowd that comes back at once shares what is read of the journal', async () => {
  const { commit, open, state } = fixture();
  commit(...Array.from({ length: 100 }, (_, index) => large(index + 1, 100)));
  const crowd = Array.from({ length: 200 }, () => open(10));
  await turns();
  assert.ok(crowd.every(({ positions }) => positions.length === 90));
  assert.ok(state.reads.length <= 10, `the journal was read ${state.reads.length} times`);
});

test('without a reader a commit asks for nothing, and the last one that goes takes the timer with it', async () => {
  const { time, streams, commit, open, state } = fixture();
  commit(large(1, 100));
  const answer = open();
  await turns();
  answer.end();
  const before = state.reads.length;
  commit(large(2, 100));
  await time.advance(60_000);
  assert.deepEqual([streams.readers, state.reads.length], [0, before]);
});

test('a reader that missed pruned rows is ended, so that it gets 410 when it returns', async () => {
  const { commit, open, state } = fixture();
  commit(...Array.from({ length: 200 }, (_, index) => large(index + 1, 100)));
  const answer = open(0);
  answer.isTaking = false;
  await turns();
  state.pruned = 150;
  for (let count = 0; count < 100; count++) {
    answer.take();
    await turns(3);
  }
  assert.equal(answer.became, 'ended');
  assert.ok((answer.positions.at(-1) ?? 0) < 150);
});

test('a reader without the right any more is ended at the next reload or heart-beat, and no other', async () => {
  const { time, streams, open } = fixture();
  let isAllowed = true;
  const [revoked, allowed, open_] = [open(null, async () => isAllowed), open(null, async () => true), open()];
  streams.judgeAll();
  await turns();
  assert.equal(revoked.became, null);
  isAllowed = false;
  streams.judgeAll();
  await turns();
  assert.deepEqual([revoked.became, allowed.became, open_.became], ['ended', null, null]);
  await time.advance(15_000);
  await turns();
  assert.deepEqual([allowed.became, open_.became], [null, null]);
});

test('a reader that was dismissed and stays connected gets nothing more, and is closed in the end', async () => {
  const { time, streams, commit, open } = fixture();
  const leaving = open(null, async () => false);
  leaving.isClosedAtEnd = false;
  await turns();
  streams.judgeAll();
  await turns();
  assert.equal(leaving.became, 'ended');
  commit(large(1, 100));
  await turns();
  for (let beat = 0; beat < 3; beat++) {
    await time.advance(15_000);
    await turns();
  }
  assert.equal(leaving.became, 'dropped');
  assert.deepEqual(leaving.positions, []);
});

test('the end of the server ends a stream at once, also one whose reader accepts nothing', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  const url = `http://127.0.0.1:${fixture.port}/v1/stream`;
  const headers = { authorization: `Bearer ${READER}` };
  const [stream, stuck] = await Promise.all([readStream(t, url, headers), readStream(t, url, headers)]);
  stuck.pause();
  for (let position = 1; position <= 200; position++) fixture.commit(large(position, 64 * 1024));
  await turns();
  const sinceMs = performance.now();
  await fixture.close();
  await stream.until(() => stream.isEnded);
  assert.ok(performance.now() - sinceMs < 2000);
});
