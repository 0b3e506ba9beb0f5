// Random journals and filters → the frames that a naive search over the whole journal finds.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { ListedFrames } from '../../../../src/http/stream/listed-frames.ts';
import { type StreamFrame, StreamFrames } from '../../../../src/http/stream/stream-frames.ts';
import type { JournalledEntry, Occurrence } from '../../../../src/model/events.ts';
import { entry } from '../../../virtual/outbox-fixture.ts';

const CHANGES = ['scheduled', 'updated', 'started', 'ended', 'approval.recorded'];
const NOTICES = ['scheduled', 'updated', 'started'];

const row = fc.record({
  key: fc.constantFrom('a', 'b', 'c'),
  occurrence: fc.integer({ min: 1, max: 2 }),
  change: fc.constantFrom(...CHANGES),
});

function framesOver(journal: readonly JournalledEntry[]): StreamFrames {
  return new StreamFrames({
    newest: () => journal.length,
    pruned: () => 0,
    after: (position, limit) => journal.slice(position, position + limit),
    listed: () => null,
    notice: ({ key, occurrence }, position) =>
      journal.findLast(
        (made) =>
          made.key === key &&
          made.occurrence === occurrence &&
          made.position <= position &&
          NOTICES.includes(made.change),
      ) ?? null,
  });
}

function all(frames: ListedFrames): StreamFrame[] {
  const found: StreamFrame[] = [];
  for (let next = frames.next(); next !== 'end'; next = frames.next()) if (next !== 'more') found.push(next);
  return found;
}

test('each listed event gives its newest frame that the filter lets through, in the order of the journal', () => {
  fc.assert(
    fc.property(
      fc.array(row, { maxLength: 30 }),
      fc.uniqueArray(row, { maxLength: 6, selector: ({ key }) => key }),
      fc.subarray(CHANGES),
      fc.nat(30),
      (rows, listed: readonly Occurrence[], changes, position) => {
        const journal = rows.map((made, index) => ({ ...entry(`e:${index}`), ...made, position: index + 1 }));
        const lets = ({ change }: Pick<StreamFrame, 'change'>) => changes.includes(change);
        const found = all(new ListedFrames({ frames: framesOver(journal), filter: lets, listed, position })).map(
          (frame) => frame.position,
        );
        const expected = listed.flatMap(({ key, occurrence }) => {
          const fitting = journal.filter(
            (made) =>
              made.position <= position &&
              made.key === key &&
              made.occurrence === occurrence &&
              NOTICES.includes(made.change) &&
              lets(made),
          );
          return fitting.slice(-1).map((made) => made.position);
        });
        assert.deepEqual(
          found,
          expected.toSorted((one, other) => one - other),
        );
      },
    ),
    { numRuns: 500 },
  );
});

test('a row that is pruned before it is sent is left out', () => {
  const journal = ['a', 'b'].map((key, index) => ({ ...entry(`e:${index}`), key, occurrence: 1, position: index + 1 }));
  const whole = framesOver(journal);
  const frames = {
    notice: (event: Occurrence, position: number) => whole.notice(event, position),
    at: (position: number) => (position === 1 ? null : whole.at(position)),
  };
  const occurrences = ['a', 'b'].map((key) => ({ key, occurrence: 1 }));
  const listed = new ListedFrames({ frames, filter: () => true, listed: occurrences, position: 2 });
  assert.deepEqual(
    all(listed).map(({ position }) => position),
    [2],
  );
});
