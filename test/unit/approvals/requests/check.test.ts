// Refused requests → what may still come; checked ones → the votes to record.
import assert from 'node:assert/strict';
import test from 'node:test';
import { refusal } from '../../../../src/approvals/requests/answer.ts';
import { votesOf, whatMayCome } from '../../../../src/approvals/requests/check.ts';
import type { StartRequest } from '../../../../src/approvals/requests/start-requests.ts';
import type { RefusalType } from '../../../../src/model/problems.ts';
import { EVENT_ID, scheduledEvent } from '../../../support/events.ts';
import { approvalsOverOneEvent, approve, change, end, KEY } from '../../../virtual/approvals-fixture.ts';
import { letter, take } from '../../../virtual/inbox-fixture.ts';
import { MemoryApprovalStore } from '../../../virtual/memory-approval-store.ts';

const READ = `${KEY}:updated:0123456789abcdef`;
const UNREAD = `${KEY}:updated:fedcba9876543210`;

function requestOf(...seen: readonly string[]): StartRequest {
  return { eventId: EVENT_ID, key: KEY, seen };
}

function storeWithEnd(endedMs: number | null): MemoryApprovalStore {
  const store = new MemoryApprovalStore();
  store.seenEvents.set(READ, { key: KEY, occurrence: 1, change: 'updated', event: scheduledEvent() });
  if (endedMs !== null) store.end(KEY, 1, endedMs);
  return store;
}

const WAITS: readonly [
  type: RefusalType,
  requests: readonly StartRequest[],
  sentMs: number | null,
  mayCome: string | null,
][] = [
  ['submitting', [requestOf()], 5, 'answer'],
  ['unknown', [requestOf()], 5, 'event'],
  ['ended', [requestOf()], 5, 'event'],
  ['ended', [requestOf()], 4, null],
  ['ended', [requestOf()], null, 'event'],
  ['seen-unknown', [requestOf(UNREAD)], 5, 'update'],
  ['seen-unknown', [requestOf(READ)], 5, null],
  ['seen-unknown', [requestOf(READ, UNREAD)], 5, 'update'],
  ['seen-unknown', [requestOf(READ), requestOf(UNREAD)], 5, 'update'],
  ['seen-unknown', [requestOf(), requestOf(READ)], 5, null],
  ['seen-unknown', [requestOf('elsewhere:updated:fedcba9876543210')], 5, null],
  ['changed', [requestOf(UNREAD)], 5, null],
  ['scope', [requestOf(UNREAD)], 5, null],
];
for (const [type, requests, sentMs, mayCome] of WAITS) {
  const title = `${type}, sent at ${sentMs}, with ${JSON.stringify(requests.map(({ seen }) => seen))}: ${mayCome} may come`;
  test(title, () => {
    const refused = refusal(type, 'why', EVENT_ID);
    assert.equal(whatMayCome(refused, requests, { store: storeWithEnd(5), sentMs }), mayCome);
  });
}

test('nothing that may come helps a body that cannot be understood', () => {
  const context = { store: storeWithEnd(null), sentMs: 5 };
  for (const type of ['bad-request', 'unknown'] as const)
    assert.equal(whatMayCome(refusal(type, 'why'), [requestOf(UNREAD)], context), null);
});

test('an event that started after its approval has no vote to record', (t) => {
  const { fixture } = approvalsOverOneEvent(t);
  const known = fixture.known(KEY);
  assert.ok(known);
  assert.deepEqual(
    votesOf([
      { kind: 'started', known, request: requestOf(UNREAD) },
      { kind: 'recordable', known, request: requestOf() },
      { kind: 'recordable', known, request: requestOf(READ) },
    ]),
    [
      { kind: 'vote', known, hasSeen: false },
      { kind: 'vote', known, hasSeen: true },
    ],
  );
});

test('an approval from before the last end is refused as old, also if the approver has approved the event since', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const sentMs = fixture.time.wallMs();
  await fixture.time.advance(1000);
  end(fixture);
  change(fixture);
  await approve(approvals);
  const again = letter(fixture, { StartRequests: [{ EventId: EVENT_ID }] }, { sentMs });
  assert.equal(await take(fixture, approvals, again), 'old');
});
