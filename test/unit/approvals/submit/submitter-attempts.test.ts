// Attempts that fail, wait or come too late → what is posted next, and what the log says.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import { connectStages } from '../../../../src/approvals/stages.ts';
import type { PostResult } from '../../../../src/model/approvals.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  ACCEPTED,
  ApprovalsFixture,
  again,
  approvalOnItsWay,
  approvalsOverOneEvent,
  approve,
  caller,
  end,
  KEY,
  logged,
  REFUSED,
  RULES,
  reopened,
  said,
} from '../../../virtual/approvals-fixture.ts';
import { testStories } from '../../../virtual/approvals-story.ts';
import { MemoryApprovalStore } from '../../../virtual/memory-approval-store.ts';
import { decidedApproval, StartQueueFixture } from '../../../virtual/start-queue-fixture.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const BAD: PostResult = { kind: 'refused', status: 400, error: new Error('the metadata service answered 400') };
const APPROVE = { policy: [{ when: {}, then: 'approve' }] } as const;
/** The first machine of the event posts first. */
const LEADER = { group: { submit: 'leader', failoverAfterMs: 10_000, members: [] } } as const;

/** Four events, for which there is room for one request at a time. */
function fourTogether(answers: readonly (PostResult | Promise<PostResult>)[]): ApprovalsFixture {
  const fixture = new ApprovalsFixture();
  for (const id of ['One', 'Two', 'Three', 'Four']) fixture.list(id);
  fixture.rate.room = () => ({ posts: 1, inMs: 0 });
  fixture.answers = [...answers];
  return fixture;
}

testStories([
  [
    'an acceptance that could not be stored at once is stored later, though its approval is void by then',
    {},
    `service is silent; orders asks; disk is full; service at last answers accepted; disk is well
    it is a Redeploy; state > none; +1 s; state > submitted; posts > 1`,
  ],
  [
    'after a read has voided an approval, a new one is posted without a pause',
    {},
    `+10001 ms; service lists it with 60 s; orders approves > 409 changed; orders approves > 200 submitted
    posted at ms > 10001`,
  ],
  [
    'after a 503, a document that is fresh is not read again',
    {},
    'service answers 503 1 s; orders approves > 202 submitting; +1 s; state > submitted; posts > 2; reads > 0',
  ],
]);

test('after a 503 to several, they are posted together again, and the log names each', async (t) => {
  const fixture = fourTogether([again(1000)]);
  const approvals = fixture.open(APPROVE);
  t.after(() => fixture.close(approvals));
  fixture.poll();
  await settle();
  fixture.rate.room = () => ({ posts: 0, inMs: 500 });
  await fixture.time.advance(1000);
  fixture.rate.room = () => ({ posts: 1, inMs: 0 });
  await fixture.time.advance(500);
  assert.deepEqual(
    fixture.posts.map(({ eventIds, atMs }) => [eventIds.length, atMs]),
    [
      [4, 0],
      [4, 1500],
    ],
  );
  assert.deepEqual(
    logged(fixture, 'warn'),
    ['One', 'Two', 'Three', 'Four'].map((eventId) => ({
      ...{ eventId, reason: 'the metadata service answered 503', count: 4 },
      msg: 'the metadata service did not accept a StartRequest',
    })),
  );
  assert.equal(fixture.reads, 0);
});

test('after a 400 to several, half of them at most are posted together, on a new document', async (t) => {
  const first = Promise.withResolvers<PostResult>();
  const fixture = fourTogether([first.promise]);
  const approvals = fixture.open(APPROVE);
  t.after(() => fixture.close(approvals));
  fixture.poll();
  await fixture.time.advance(500);
  first.resolve(BAD);
  await settle();
  assert.deepEqual(
    fixture.posts.map(({ eventIds, documentAgeMs }) => [eventIds.length, documentAgeMs]),
    [
      [4, 0],
      [2, 0],
      [2, 0],
    ],
  );
});

test('the log says that an answer could not be stored, and that the bridge retries', async (t) => {
  const { fixture, answer } = await approvalOnItsWay(t);
  fixture.store.fault = new Error('the disk is full');
  answer(ACCEPTED);
  await settle();
  const err = 'the disk is full';
  assert.deepEqual(logged(fixture, 'error'), [
    { eventIds: [EVENT_ID], err, msg: 'the answer of the metadata service could not be stored' },
    { eventId: EVENT_ID, err, msg: 'an approval could not be processed; the bridge will retry it' },
  ]);
});

test('a stop before the document that a refusal requires is read is no error of the bridge', async (t) => {
  const { fixture, approvals, answer } = await approvalOnItsWay(t);
  answer(REFUSED);
  await fixture.close(approvals);
  assert.deepEqual(logged(fixture, 'error'), []);
  assert.equal(fixture.reads, 0);
});

test('an approval that waits for a document, and one that a hold takes from the queue, are no error', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.isAway = true;
  await fixture.time.advance(10_001);
  await approve(approvals);
  await fixture.time.advance(3000);
  fixture.rate.room = () => ({ posts: 0, inMs: 1000 });
  await fixture.time.advance(1000);
  approvals.hold(caller('billing'), { EventId: EVENT_ID });
  await fixture.time.advance(1000);
  assert.deepEqual([...logged(fixture, 'warn'), ...logged(fixture, 'error')], []);
  assert.equal(fixture.posts.length, 0);
});

test('refused, and the next document no longer lists the event, which has not ended yet: moot', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  fixture.answers = [REFUSED];
  const poll = fixture.poll.bind(fixture);
  fixture.poll = () => {
    poll();
    Object.assign(fixture.known(KEY) ?? {}, { listed: false });
  };
  assert.equal(said(await approve(approvals)), '200 moot');
});

test('closing waits for a POST under way', async (t) => {
  const { approvals, answer } = await approvalOnItsWay(t);
  let isClosed = false;
  const closed = approvals[Symbol.asyncDispose]().then(() => (isClosed = true));
  await settle();
  assert.equal(isClosed, false);
  answer(ACCEPTED);
  await closed;
});

test('an answer to an earlier occurrence ends nothing of the one that has followed it', async (t) => {
  const { fixture, approvals, answer } = await approvalOnItsWay(t);
  const second = Promise.withResolvers<PostResult>();
  fixture.answers = [second.promise];
  end(fixture);
  fixture.list(EVENT_ID);
  fixture.poll();
  const asked = approve(approvals);
  await settle();
  answer(ACCEPTED);
  await settle();
  const askedAgain = approve(approvals, 'billing');
  await settle();
  second.resolve(ACCEPTED);
  assert.equal(said(await asked), '200 submitted');
  assert.equal(said(await askedAgain), '200 submitted');
  assert.equal(fixture.posts.length, 2);
});

test('a reload that leaves posting to others keeps back what waits for its place', async (t) => {
  const fixture = new ApprovalsFixture();
  for (let index = 0; index < 4; index++) fixture.list(`event ${index}`);
  fixture.rate.room = () => ({ posts: 0, inMs: 1000 });
  const approvals = fixture.open({ ...APPROVE, ownName: 'elsewhere' });
  t.after(() => fixture.close(approvals));
  fixture.poll();
  await settle();
  approvals.reload({ ...RULES, ...APPROVE, ...LEADER });
  fixture.rate.room = () => ({ posts: 4, inMs: 0 });
  assert.equal(await fixture.postsAfter(5000), 0);
  approvals.reload({ ...RULES, ...APPROVE });
  assert.equal(await fixture.postsAfter(0), 4);
});

const TURN = 'other machines of the group post first; this bridge posts if the event is still Scheduled then';

test('the log says once when the turn of this bridge comes', async (t) => {
  const { fixture } = approvalsOverOneEvent(t, { ...APPROVE, ...LEADER, ownName: 'WestNO_1' });
  await fixture.time.advance(5000);
  fixture.poll();
  await fixture.time.advance(4000);
  fixture.poll();
  await settle();
  assert.deepEqual(
    logged(fixture, 'info').filter((line) => 'turnInSeconds' in line),
    [{ eventId: EVENT_ID, turnInSeconds: 10, msg: TURN }],
  );
  assert.equal(await fixture.postsAfter(1000), 1);
});

test('a clock that is set back by up to a second moves the turn without a line, and by more with one', async (t) => {
  const settings = { ...APPROVE, ...LEADER, ownName: 'WestNO_1' };
  const { fixture } = approvalsOverOneEvent(t, settings);
  await fixture.time.advance(2500);
  fixture.log.length = 0;
  const restarted = reopened(fixture, settings);
  t.after(() => fixture.close(restarted));
  const turns = async () => {
    fixture.poll();
    await settle();
    return logged(fixture, 'info').flatMap((line) => ('turnInSeconds' in line ? line.turnInSeconds : []));
  };
  assert.deepEqual(await turns(), [8]);
  fixture.time.jumpWall(-1000);
  assert.deepEqual(await turns(), [8]);
  fixture.time.jumpWall(-1);
  assert.deepEqual(await turns(), [8, 9]);
  assert.equal(await fixture.postsAfter(8500), 0);
  assert.equal(await fixture.postsAfter(1), 1);
});

test('under a hold of everything nothing is posted, even what has no hold itself', async () => {
  const { queue: _, ports, time, actions } = new StartQueueFixture('a');
  const { ledger } = connectStages({
    ...{ ...RULES, isShared: () => true, ports, deps: time, logger: pino({ level: 'silent' }) },
    store: new MemoryApprovalStore(),
  });
  ledger.holdOfAll = { by: 'orders', via: 'token', at: { wallMs: 0, elapsedMs: 0 }, reason: null };
  ledger.keep(decidedApproval('a'));
  await settle();
  assert.deepEqual(actions, []);
  ledger.holdOfAll = null;
  ledger.remind();
  await settle();
  assert.deepEqual(actions, ['post A']);
});
