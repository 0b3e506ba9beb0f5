// Approvals in a queue alone → who shares a request, what is read first, and who leaves it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { scheduledIn } from '../../../../src/approvals/submit/start-queue.ts';
import { BridgeError } from '../../../../src/errors.ts';
import type { PostResult } from '../../../../src/model/approvals.ts';
import { drillEventId } from '../../../../src/model/ids.ts';
import { decidedApproval, firstOccurrence, StartQueueFixture } from '../../../virtual/start-queue-fixture.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const NO_ROOM = { posts: 0, inMs: 1000 };
const ONE = { posts: 1, inMs: 0 };
const UNDUE = { kind: 'undue' };
const UNSEEN = { kind: 'unseen' };
const DRILL = drillEventId('11111111-2222-3333-4444-555555555555');

/** The answer to an approval that the service accepted. */
function accepted(key: string, together = 1): object {
  return { kind: 'answered', posted: decidedApproval(key), result: { kind: 'accepted' }, together, isStored: true };
}

test('after a stop the queue takes no approval, and posts none that waits', async () => {
  const fixture = new StartQueueFixture('a', 'b');
  fixture.room = NO_ROOM;
  const waits = fixture.post('a');
  await settle();
  assert.equal(fixture.time.pending, 1);
  fixture.queue.stop();
  assert.equal(fixture.time.pending, 0);
  assert.deepEqual(await waits, UNDUE);
  fixture.room = ONE;
  assert.deepEqual(await fixture.post('b'), UNDUE);
  await settle();
  assert.deepEqual(fixture.actions, []);
});

test('a drill is accepted by the bridge itself, at once and without a request', async () => {
  const fixture = new StartQueueFixture(DRILL);
  fixture.room = NO_ROOM;
  assert.deepEqual(await fixture.post(DRILL), accepted(DRILL));
  assert.deepEqual(fixture.actions, [`accepted ${DRILL}`, `drill approved ${DRILL}`]);
});

for (const [why, change] of [
  ['its approval is void', (fixture: StartQueueFixture) => fixture.undue.add(DRILL)],
  [
    'it has started',
    ({ events }: StartQueueFixture) => events.set(DRILL, firstOccurrence(DRILL, { eventStatus: 'Started' })),
  ],
] as const)
  test(`a drill is not accepted if ${why}`, async () => {
    const fixture = new StartQueueFixture(DRILL);
    change(fixture);
    assert.deepEqual(await fixture.post(DRILL), UNDUE);
    assert.deepEqual(fixture.actions, []);
  });

test('a hundred approvals of the same turn ask for room once, and while they wait there is one timer', async () => {
  const keys = Array.from({ length: 100 }, (_, index) => `event ${index}`);
  const fixture = new StartQueueFixture(...keys, 'late');
  fixture.room = NO_ROOM;
  for (const key of keys) void fixture.post(key);
  await settle();
  assert.equal(fixture.roomAsked, 1);
  void fixture.post('late');
  await settle();
  assert.equal(fixture.roomAsked, 2);
  assert.equal(fixture.time.pending, 1);
});

test('while the only place is reserved, the queue waits for it without a timer', async () => {
  const fixture = new StartQueueFixture('a', 'b');
  fixture.room = ONE;
  const read = Promise.withResolvers<void>();
  fixture.reads = () => read.promise.then(() => fixture.document());
  const first = fixture.post('a', { isReadFirst: true });
  await settle();
  const second = fixture.post('b');
  await settle();
  assert.equal(fixture.time.pending, 0);
  assert.deepEqual(fixture.actions, ['read']);
  read.resolve();
  assert.deepEqual(await Promise.all([first, second]), [accepted('a'), accepted('b')]);
  assert.deepEqual(fixture.actions.toSorted(), ['accepted a', 'accepted b', 'post A', 'post B', 'read']);
});

test('an approval that must be read first shares no request with one that need not', async () => {
  const fixture = new StartQueueFixture('a', 'b', 'c');
  fixture.room = ONE;
  fixture.isProtected.add('b');
  fixture.reads = () => fixture.document();
  const all = [fixture.post('a'), fixture.post('b'), fixture.post('c')];
  assert.deepEqual(await Promise.all(all), [accepted('a', 2), accepted('b'), accepted('c', 2)]);
  assert.deepEqual(
    fixture.actions.filter((action) => /^(read|post)/.test(action)),
    ['post A C', 'read', 'post B'],
  );
});

test('an approval whose request was narrowed shares none with more than that', async () => {
  const fixture = new StartQueueFixture('a', 'b', 'c', 'd');
  fixture.room = ONE;
  const all = [
    fixture.post('a'),
    fixture.post('b', { together: 1 }),
    fixture.post('c'),
    fixture.post('d', { together: 3 }),
  ];
  await Promise.all(all);
  assert.deepEqual(
    fixture.actions.filter((action) => /^post/.test(action)),
    ['post A C D', 'post B'],
  );
});

test('what is no longer due leaves the queue when there is no room either', async () => {
  const fixture = new StartQueueFixture('a', 'b');
  fixture.room = NO_ROOM;
  const [a, b] = [fixture.post('a'), fixture.post('b')];
  await settle();
  fixture.undue.add('a');
  await fixture.time.advance(1000);
  assert.deepEqual(await a, UNDUE);
  assert.equal(await Promise.race([b, 'waits']), 'waits');
  fixture.room = ONE;
  await fixture.time.advance(1000);
  assert.deepEqual(await b, accepted('b'));
});

test('an approval whose turn ends while the queue is sorted is not posted', async () => {
  const fixture = new StartQueueFixture('a');
  fixture.reads = () => fixture.document();
  let lookups = 0;
  fixture.looksUp = (key) => {
    if (++lookups > 1) fixture.undue.add(key);
  };
  assert.deepEqual(await fixture.post('a'), UNDUE);
  assert.deepEqual(fixture.actions, []);
});

test('an event that the last document does not list as Scheduled is looked for in a new one', async () => {
  const fixture = new StartQueueFixture('a');
  fixture.events.set('a', firstOccurrence('a', { eventStatus: 'Started' }));
  fixture.reads = () => {
    fixture.document();
    fixture.events.set('a', firstOccurrence('a'));
  };
  assert.deepEqual(await fixture.post('a'), accepted('a'));
  assert.deepEqual(fixture.actions, ['read', 'post A', 'accepted a']);
});

const FATES: readonly (readonly [why: string, reads: (fixture: StartQueueFixture) => void, answer: object])[] = [
  ['the document cannot be read', () => {}, UNSEEN],
  [
    'a newer document cannot be stored',
    (fixture) => {
      fixture.document();
      fixture.isBehind = true;
    },
    UNSEEN,
  ],
  [
    'the document no longer lists its event',
    (fixture) => {
      fixture.document();
      fixture.events.delete('a');
    },
    UNSEEN,
  ],
  [
    'the document makes the approval void',
    (fixture) => {
      fixture.document();
      fixture.undue.add('a');
    },
    UNDUE,
  ],
];

for (const [why, reads, answer] of FATES)
  test(`after a read, nothing is posted if ${why}: ${JSON.stringify(answer)}`, async () => {
    const fixture = new StartQueueFixture('a');
    fixture.reads = () => reads(fixture);
    assert.deepEqual(await fixture.post('a', { isReadFirst: true }), answer);
    assert.deepEqual(fixture.actions, ['read']);
  });

test('of two that share a read, the one whose event has gone is not posted, and the other is', async () => {
  const fixture = new StartQueueFixture('a', 'b');
  fixture.room = ONE;
  fixture.isProtected.add('a').add('b');
  fixture.reads = () => {
    fixture.document();
    fixture.events.delete('a');
  };
  assert.deepEqual(await Promise.all([fixture.post('a'), fixture.post('b')]), [UNSEEN, accepted('b')]);
  assert.deepEqual(fixture.actions, ['read', 'post B', 'accepted b']);
});

test('an event that is not known is the least urgent', async () => {
  const fixture = new StartQueueFixture('known');
  fixture.room = ONE;
  assert.deepEqual(await Promise.all([fixture.post('unknown'), fixture.post('known')]), [UNSEEN, accepted('known')]);
  assert.deepEqual(fixture.actions.slice(0, 2), ['post KNOWN', 'read']);
});

test('a StartRequest that is aborted is answered as lost, by the code of the stop', async () => {
  const fixture = new StartQueueFixture('a');
  const reason = new Error('stopped');
  fixture.posts = (signal) =>
    new Promise<PostResult>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const posted = fixture.post('a');
  await settle();
  fixture.abort.abort(reason);
  await posted;
  const [result] = fixture.results;
  assert.ok(result?.kind === 'again' && result.error instanceof BridgeError);
  const { delayMs, mayHaveArrived, error } = result;
  assert.deepEqual(
    { delayMs, mayHaveArrived, code: error.code, message: error.message, cause: error.cause },
    {
      ...{ delayMs: 0, mayHaveArrived: true, code: 'BRIDGE_APPROVALS_CLOSED', cause: reason },
      message: 'The bridge stopped before the metadata service answered.',
    },
  );
});

test('an event is Scheduled if the last document lists this occurrence so', () => {
  const started = { eventStatus: 'Started' } as const;
  const known = firstOccurrence('a');
  const found = [known, firstOccurrence('a', started), firstOccurrence('a', {}, { listed: false }), undefined].map(
    (each) => {
      const events = new Map(each && [['a', each]]);
      return [1, 2].map((occurrence) => scheduledIn({ events: () => events }, 'a', occurrence));
    },
  );
  assert.deepEqual(found, [
    [known, null],
    [null, null],
    [null, null],
    [null, null],
  ]);
});
