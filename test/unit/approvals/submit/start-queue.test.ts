// Many approvals at once → few requests, urgent ones first; a refusal hits its own event alone.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { PostResult } from '../../../../src/model/approvals.ts';
import { ACCEPTED, ApprovalsFixture, again, approve, REFUSED, reopened } from '../../../virtual/approvals-fixture.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const BAD: PostResult = { kind: 'refused', status: 400, error: new Error('the metadata service answered 400') };
/** Before all the others. */
const SOON = '2022-01-01T00:00:00Z';
const APPROVE = { policy: [{ when: {}, then: 'approve' }] } as const;

function eventIds(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `event-${String(index).padStart(4, '0')}`);
}

/** A metadata service with these events, of which nothing was read yet. */
function listing(ids: readonly string[]): ApprovalsFixture {
  const fixture = new ApprovalsFixture();
  for (const id of ids) fixture.list(id);
  return fixture;
}

function stateOf(fixture: ApprovalsFixture, eventId: string): string | undefined {
  const known = fixture.known(eventId.toLowerCase());
  return known && fixture.store.stored(known.key, known.occurrence)?.state;
}

test('one alone, and as many as there is room for, are posted at once and each by itself', async (t) => {
  const fixture = listing(eventIds(3));
  const approvals = fixture.open(APPROVE);
  t.after(() => fixture.close(approvals));
  fixture.poll();
  await settle();
  assert.deepEqual(
    fixture.posts.map(({ eventIds, atMs }) => [eventIds.length, atMs]),
    [
      [1, 0],
      [1, 0],
      [1, 0],
    ],
  );
});

test('a thousand that are decided at once are posted within 4 s, at most 100 together, and each once', async (t) => {
  const ids = eventIds(1000);
  const fixture = listing(ids);
  const approvals = fixture.open(APPROVE);
  t.after(() => fixture.close(approvals));
  fixture.poll();
  await fixture.time.advance(4000);
  assert.deepEqual(fixture.posts.flatMap((post) => post.eventIds).sort(), ids);
  assert.ok(fixture.posts.every((post) => post.eventIds.length <= 100));
  assert.deepEqual(
    fixture.posts.map(({ atMs }) => atMs),
    [0, 0, 0, 1050, 1050, 1050, 2100, 2100, 2100, 3150, 3150, 3150],
  );
  assert.ok(ids.every((id) => stateOf(fixture, id) === 'submitted'));
});

test('the answer to a StartRequest with many ids is stored in one transaction, with a CloudEvent for each', async (t) => {
  const fixture = listing(eventIds(300));
  const approvals = fixture.open(APPROVE);
  t.after(() => fixture.close(approvals));
  const answered = Array.from({ length: 3 }, () => Promise.withResolvers<PostResult>());
  fixture.answers = answered.map(({ promise }) => promise);
  fixture.poll();
  await settle();
  for (const [index, result] of [again(1000), ACCEPTED, ACCEPTED].entries()) {
    const before = fixture.store.transactions;
    answered[index]?.resolve(result);
    await settle();
    assert.equal(fixture.store.transactions, before + 1);
  }
  const stepsOf = (post: number) =>
    (fixture.posts[post]?.eventIds ?? []).map((id) => {
      const { occurrence = 0 } = fixture.known(id) ?? {};
      return fixture.store.approvals.record(occurrence, { after: 0, limit: 9 }).steps.map(({ step }) => step);
    });
  assert.deepEqual(new Set(stepsOf(0).map(String)), new Set(['decided,answered']));
  assert.deepEqual(new Set([...stepsOf(1), ...stepsOf(2)].map(String)), new Set(['decided,submitted']));
  assert.deepEqual(fixture.store.told, Array(200).fill('approval.submitted'));
});

test('if the answer for many ids cannot be stored at once, each part is stored as soon as possible', async (t) => {
  const ids = eventIds(60);
  const fixture = listing(ids);
  const approvals = fixture.open(APPROVE);
  t.after(() => fixture.close(approvals));
  const answer = Promise.withResolvers<PostResult>();
  fixture.answers = [answer.promise];
  fixture.poll();
  await settle();
  const named = fixture.posts[0]?.eventIds ?? [];
  const poison = fixture.known(named[7] ?? '')?.occurrence;
  fixture.store.approvalFault = ({ occurrence }) =>
    occurrence === poison ? new Error('a mistake in one of them') : null;
  answer.resolve(ACCEPTED);
  await settle();
  assert.deepEqual(
    named.filter((id) => stateOf(fixture, id) !== 'submitted'),
    [named[7]],
  );
  fixture.store.approvalFault = null;
  await fixture.time.advance(1000);
  assert.ok(ids.every((id) => stateOf(fixture, id) === 'submitted'));
  assert.equal(fixture.store.told.length, 60);
  assert.equal(fixture.posts.flatMap((post) => post.eventIds).length, 60, 'none is posted again');
});

test('the earliest NotBefore goes first, of equal ones the hardest impact, and one without may start at any moment', async (t) => {
  const fixture = listing(eventIds(8));
  fixture.list('soon', { notBefore: SOON, eventType: 'Freeze' });
  fixture.list('soon and hard', { notBefore: SOON, eventType: 'Terminate' });
  fixture.list('at any moment', { notBefore: null });
  const approvals = fixture.open(APPROVE);
  t.after(() => fixture.close(approvals));
  fixture.poll();
  await settle();
  assert.deepEqual(fixture.posts.flatMap((post) => post.eventIds).slice(0, 3), [
    'at any moment',
    'soon and hard',
    'soon',
  ]);
});

test('an urgent one that comes while others wait for their place goes before them', async (t) => {
  const fixture = listing(eventIds(400));
  const approvals = fixture.open(APPROVE);
  t.after(() => fixture.close(approvals));
  fixture.poll();
  await fixture.time.advance(500);
  fixture.list('preempt', { notBefore: SOON, eventType: 'Preempt' });
  fixture.poll();
  await fixture.time.advance(4000);
  assert.equal(fixture.posts[3]?.eventIds[0], 'preempt');
});

for (const [what, fate, states] of [
  ['is still Scheduled', (_: ApprovalsFixture) => {}, 'failed'],
  ['has gone meanwhile', (fixture: ApprovalsFixture) => fixture.end('event-0005'), 'moot'],
] as const) {
  test(`400 to several is narrowed to the one to blame, which ${what}: ${states}, and the others are submitted`, async (t) => {
    const ids = eventIds(40);
    const fixture = listing(ids);
    const approvals = fixture.open(APPROVE);
    t.after(() => fixture.close(approvals));
    let isFirst = true;
    fixture.answerTo = (named) => {
      if (!named.includes('event-0005')) return ACCEPTED;
      if (isFirst) fate(fixture);
      isFirst = false;
      return BAD;
    };
    fixture.poll();
    await fixture.time.advance(20_000);
    const others = ids.filter((id) => id !== 'event-0005');
    assert.ok(others.every((id) => stateOf(fixture, id) === 'submitted'));
    const stored = fixture.store.stored('event-0005', 6);
    assert.equal(stored?.state, states);
    const blamed = fixture.posts
      .filter((post) => post.eventIds.includes('event-0005'))
      .map((post) => post.eventIds.length);
    if (states === 'failed') assert.deepEqual(blamed, [14, 5, 2, 1]);
    const again = fixture.posts.slice(3).flatMap((post) => post.eventIds);
    assert.ok(
      again.every((id) => ids.indexOf(id) < 14),
      'what the others stood in was accepted at once',
    );
    assert.ok(fixture.reads > 0, 'the document was read again before they were posted again');
    assert.equal(fixture.store.told.filter((told) => told.startsWith('approval.submitted')).length, 39);
  });
}

test('what is denied as a whole, as by 403, is not tried one by one', async (t) => {
  const ids = eventIds(40);
  const fixture = listing(ids);
  const approvals = fixture.open(APPROVE);
  t.after(() => fixture.close(approvals));
  fixture.answerTo = () => REFUSED;
  fixture.poll();
  // A minute later they are posted again.
  assert.equal(await fixture.postsAfter(59_000), 3);
  assert.ok(ids.every((id) => stateOf(fixture, id) === 'failed'));
});

test('a hold that comes while its event waits for a place keeps it out of the request', async (t) => {
  const ids = eventIds(400);
  const fixture = listing(ids);
  const approvals = fixture.open(APPROVE);
  t.after(() => fixture.close(approvals));
  fixture.poll();
  await fixture.time.advance(500);
  const last = ids.at(-1) ?? '';
  approvals.hold({ approver: 'orders', via: 'token', isShared: false }, { EventId: last });
  await fixture.time.advance(10_000);
  assert.deepEqual(fixture.posts.flatMap((post) => post.eventIds).sort(), ids.slice(0, -1));
  assert.equal(stateOf(fixture, last), 'held');
});

test('closing while many wait for their place ends at once, and the next process posts them', async () => {
  const ids = eventIds(400);
  const fixture = listing(ids);
  const approvals = fixture.open(APPROVE);
  fixture.poll();
  await settle();
  await fixture.close(approvals);
  assert.equal(fixture.posts.length, 3);
  const next = reopened(fixture, APPROVE);
  fixture.poll();
  await fixture.time.advance(5000);
  assert.deepEqual(fixture.posts.flatMap((post) => post.eventIds).sort(), ids);
  await fixture.close(next);
});

const SCOPED = { approvers: { orders: { scope: { impacts: ['Freeze'] } }, billing: {} } };

for (const [what, settings, seen, reads] of [
  ['a yes of an approver with a scope', SCOPED, undefined, 1],
  ['a yes that names what was seen', {}, 'seen', 1],
  ['a yes without either', {}, undefined, 0],
  ['a rule', APPROVE, undefined, 0],
] as const) {
  test(`before the StartRequest of ${what} the document is ${reads ? '' : 'not '}read anew`, async (t) => {
    const fixture = listing(['a']);
    const approvals = fixture.open(settings);
    t.after(() => fixture.close(approvals));
    fixture.poll();
    const known = fixture.known('a');
    assert.ok(known);
    fixture.store.seenEvents.set('seen', {
      change: 'scheduled',
      key: 'a',
      occurrence: known.occurrence,
      event: known.event,
    });
    await settle();
    if (settings !== APPROVE) {
      const request = { StartRequests: [{ EventId: 'a', ...(seen && { Seen: seen }) }] };
      await approvals.request({ approver: 'orders', via: 'token', isShared: false }, request);
    }
    assert.equal(fixture.posts.length, 1);
    assert.equal(fixture.reads, reads);
  });
}

test('a read before a StartRequest that a scope protects finds an event that got worse, and voids the approval', async (t) => {
  const fixture = listing(['a']);
  const approvals = fixture.open(SCOPED);
  t.after(() => fixture.close(approvals));
  fixture.poll();
  fixture.list('a', { eventType: 'Reboot' });
  const answer = await approve(approvals, 'orders', 'a');
  assert.equal(answer.kind === 'refusal' && answer.type, 'changed');
  assert.deepEqual(fixture.posts, []);
});

test('while the document cannot be read again, nothing that a scope protects is posted; afterwards it is', async (t) => {
  const fixture = listing(['a']);
  const approvals = fixture.open(SCOPED);
  t.after(() => fixture.close(approvals));
  fixture.poll();
  fixture.isAway = true;
  const answer = await approve(approvals, 'orders', 'a');
  assert.equal(answer.kind === 'results' && answer.results[0]?.state, 'submitting');
  await fixture.time.advance(5000);
  assert.deepEqual(fixture.posts, []);
  fixture.isAway = false;
  assert.equal(await fixture.postsAfter(1000), 1);
});

test('a yes that is said again with what was seen is protected from then on', async (t) => {
  const fixture = listing(['a']);
  const approvals = fixture.open({ required: 'all' });
  t.after(() => fixture.close(approvals));
  fixture.poll();
  const known = fixture.known('a');
  assert.ok(known);
  fixture.store.seenEvents.set('seen', {
    change: 'scheduled',
    key: 'a',
    occurrence: known.occurrence,
    event: known.event,
  });
  await approve(approvals, 'orders', 'a');
  const orders = { approver: 'orders', via: 'token', isShared: false };
  await approvals.request(orders, { StartRequests: [{ EventId: 'a', Seen: 'seen' }] });
  assert.equal(fixture.store.told.length, 1, 'it is recorded once');
  await approve(approvals, 'billing', 'a');
  assert.equal(fixture.posts.length, 1);
  assert.equal(fixture.reads, 1);
});
