// Refused requests → the whole problem: what failed, for which event, and what to do.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import type { ScheduledEvent } from '../../../../src/model/events.ts';
import { EVENT_ID } from '../../../support/events.ts';
import {
  type ApprovalSettings,
  type ApprovalsFixture,
  approvalOnItsWay,
  approvalsOverOneEvent,
  approve,
  caller,
  change,
  end,
  KEY,
  RULES,
  STARTED,
} from '../../../virtual/approvals-fixture.ts';
import { letter, ORIGIN } from '../../../virtual/inbox-fixture.ts';

interface Stage {
  readonly fixture: ApprovalsFixture;
  readonly approvals: Approvals;
}

/** Of an approver, by its bare name. */
const ASKS = {
  approves: ({ approvals }: Stage, who: string, id = EVENT_ID) => approve(approvals, who, id),
  holds: ({ approvals }: Stage, who: string, id = EVENT_ID) => approvals.hold(caller(who), { EventId: id }),
  releases: ({ approvals }: Stage, who: string, holder: string | null = null, beforeMs: number | null = null) =>
    approvals.release(caller(who), EVENT_ID, holder, beforeMs),
  holdsAll: ({ approvals }: Stage, who: string) => approvals.holdAll(caller(who), 'month end'),
  releasesAll: ({ approvals }: Stage, who: string, holder: string | null = null, beforeMs: number | null = null) =>
    approvals.releaseAll(caller(who), holder, beforeMs),
};

const ADMIN: ApprovalSettings = { approvers: { orders: {}, ops: { admin: true } } };
const ELSEWHERE: ApprovalSettings = { approvers: { orders: { scope: { impacts: ['Reboot'] } } } };

const TEXTS: readonly [
  status: number,
  type: string,
  detail: string,
  ask: (stage: Stage) => unknown,
  settings?: ApprovalSettings,
  fields?: Partial<ScheduledEvent>,
][] = [
  [
    ...([404, 'unknown'] as const),
    'The metadata service does not list the event nobody. GET /v1/events shows the listed events.',
    (stage) => ASKS.approves(stage, 'orders', 'nobody'),
  ],
  [
    ...([410, 'ended'] as const),
    `The event ${KEY} has ended, so there is nothing left to approve.`,
    (stage) => {
      end(stage.fixture);
      return ASKS.approves(stage, 'orders', KEY);
    },
  ],
  [
    ...([409, 'started'] as const),
    `The event ${EVENT_ID} has started already; there is nothing left to approve.`,
    (stage) => {
      change(stage.fixture, STARTED);
      return ASKS.approves(stage, 'orders');
    },
  ],
  [
    ...([403, 'forbidden'] as const),
    `The event ${EVENT_ID} is a SpotRebalanceRecommendation, which is never approved.`,
    (stage) => ASKS.approves(stage, 'orders'),
    {},
    { eventType: 'SpotRebalanceRecommendation' },
  ],
  [
    ...([403, 'forbidden'] as const),
    `The event ${EVENT_ID} is never approved, because of the rule policy[0].`,
    (stage) => ASKS.holds(stage, 'orders'),
    { policy: [{ when: {}, then: 'never' }] },
  ],
  [
    ...([403, 'forbidden'] as const),
    `orders is not in the list of required approvers for ${EVENT_ID}, so it cannot approve it.`,
    (stage) => ASKS.approves(stage, 'orders'),
    { required: ['billing'] },
  ],
  [
    ...([403, 'scope'] as const),
    `The scope of orders does not cover all of the event ${EVENT_ID}: its type and every name in Resources.`,
    (stage) => ASKS.approves(stage, 'orders'),
    ELSEWHERE,
  ],
  [
    ...([403, 'scope'] as const),
    `The scope of orders does not touch the event ${EVENT_ID}: its type and any name in Resources.`,
    (stage) => ASKS.holds(stage, 'orders'),
    ELSEWHERE,
  ],
  [
    ...([409, 'submitted'] as const),
    `The metadata service has accepted the approval of ${EVENT_ID}, which cannot be taken back; there is nothing left to hold.`,
    async (stage) => {
      await ASKS.approves(stage, 'orders');
      return ASKS.holds(stage, 'billing');
    },
  ],
  [
    ...([404, 'not-held'] as const),
    `orders does not hold ${EVENT_ID}. GET /v1/approvals/EVENT_ID lists its holders.`,
    (stage) => ASKS.releases(stage, 'orders'),
  ],
  [
    ...([404, 'not-held'] as const),
    `billing does not hold ${EVENT_ID}. GET /v1/approvals/EVENT_ID lists its holders.`,
    (stage) => ASKS.releases(stage, 'ops', 'billing'),
    ADMIN,
  ],
  [
    ...([403, 'forbidden'] as const),
    `orders does not hold ${EVENT_ID}. Only its holders and an admin can release it.`,
    (stage) => {
      ASKS.holds(stage, 'billing');
      return ASKS.releases(stage, 'orders');
    },
  ],
  [
    ...([409, 'changed'] as const),
    `The current holds of ${EVENT_ID} were set after this release was sent. Check the event again.`,
    (stage) => {
      ASKS.holds(stage, 'orders');
      return ASKS.releases(stage, 'orders', null, stage.fixture.time.wallMs() - 1);
    },
  ],
  [
    ...([404, 'not-held'] as const),
    `Only the hold of everything holds ${EVENT_ID}. An admin releases it with DELETE /v1/holds/* or \`release --all\`.`,
    async (stage) => {
      await ASKS.holdsAll(stage, 'ops');
      return ASKS.releases(stage, 'ops');
    },
    ADMIN,
  ],
  [
    ...([403, 'not-admin'] as const),
    'orders is no admin. Only an approver with `admin: true` can hold everything and release that hold.',
    (stage) => ASKS.holdsAll(stage, 'orders'),
    ADMIN,
  ],
  [...([404, 'not-held'] as const), 'No hold of everything stands.', (stage) => ASKS.releasesAll(stage, 'ops'), ADMIN],
  [
    ...([404, 'not-held'] as const),
    'orders does not hold everything: ops does.',
    async (stage) => {
      await ASKS.holdsAll(stage, 'ops');
      return ASKS.releasesAll(stage, 'ops', 'orders');
    },
    ADMIN,
  ],
  [
    ...([409, 'changed'] as const),
    'The hold of everything was set after this release was sent. Check it again.',
    async (stage) => {
      await ASKS.holdsAll(stage, 'ops');
      return ASKS.releasesAll(stage, 'ops', null, stage.fixture.time.wallMs() - 1);
    },
    ADMIN,
  ],
  [
    ...([400, 'bad-request'] as const),
    'The EventId in the path is longer than 256 characters.',
    ({ approvals }) => approvals.life('x'.repeat(257)),
  ],
];

/** What of an answer is told, apart from its title. */
function factsOf(answer: unknown): readonly unknown[] {
  const { status, type, detail } = answer as { status: number; type: string; detail: string };
  return [status, type, detail];
}

for (const [status, type, detail, ask, settings, fields] of TEXTS) {
  test(`${status} ${type}: ${detail}`, async (t) => {
    assert.deepEqual(factsOf(await ask(approvalsOverOneEvent(t, settings, fields))), [status, type, detail]);
  });
}

test('409 submitting: a StartRequest whose answer is missing', async (t) => {
  const stage = await approvalOnItsWay(t);
  const detail = `A StartRequest for ${EVENT_ID} was sent and the metadata service may have accepted it: its answer is missing. No hold was set; try again.`;
  assert.deepEqual(factsOf(ASKS.holds(stage, 'billing')), [409, 'submitting', detail]);
});

test('a refusal has the id as the caller wrote it, and none if the body cannot be understood', async (t) => {
  const { approvals } = approvalsOverOneEvent(t, { policy: [{ when: {}, then: 'never' }] });
  assert.deepEqual(approvals.hold(caller('orders'), { EventId: KEY }), {
    ...{ kind: 'refusal', status: 403, type: 'forbidden', title: 'This approver may not approve this event' },
    detail: `The event ${KEY} is never approved, because of the rule policy[0].`,
    eventId: KEY,
  });
  assert.deepEqual(await approvals.request(caller('orders'), {}), {
    ...{ kind: 'refusal', status: 400, type: 'bad-request', title: 'The request cannot be understood' },
    detail: 'StartRequests must be an array of { "EventId": "…" }',
  });
});

/** What the broker is told of a message that is refused. */
async function refusedMessage(t: TestContext, body: object, sentMs?: number, prepare = (_: Stage): void => {}) {
  const stage = approvalsOverOneEvent(t);
  await stage.fixture.time.advance(1000);
  prepare(stage);
  return stage.approvals.take(ORIGIN, letter(stage.fixture, body, sentMs === undefined ? {} : { sentMs }));
}

const STARTS = { StartRequests: [{ EventId: EVENT_ID }] };

test('a message cannot hold everything', async (t) => {
  const description =
    'A hold of everything is set with POST /v1/holds and released with DELETE /v1/holds/*, by an admin; a message of a source cannot.';
  for (const body of [{ Holds: [{ EventId: '*' }] }, { Releases: [{ EventId: '*' }] }])
    assert.deepEqual(await refusedMessage(t, body), { reason: 'forbidden', description });
});

test('a message from before the last end is refused as old', async (t) => {
  const refused = await refusedMessage(t, STARTS, 0, ({ fixture }) => {
    end(fixture);
    change(fixture);
  });
  const description = `The approval was sent before an earlier event ${EVENT_ID} ended. Check the event again.`;
  assert.deepEqual(refused, { reason: 'old', description });
});

test('403 forbidden: an approver that is no longer configured cannot release its own hold', (t) => {
  const stage = approvalsOverOneEvent(t);
  ASKS.holds(stage, 'billing');
  stage.approvals.reload({ ...RULES, approvers: { orders: {} } });
  const detail = 'token may no longer act for billing: the configuration has changed.';
  assert.deepEqual(factsOf(ASKS.releases(stage, 'billing')), [403, 'forbidden', detail]);
});

for (const [what, detail, occurrence, fields] of [
  [
    'an earlier occurrence',
    `Seen belongs to an earlier occurrence of ${EVENT_ID}, which has ended. Check the event again.`,
    0,
    {},
  ],
  [
    'a milder event',
    `The event ${EVENT_ID} has got worse since the CloudEvent that Seen names. Check it again.`,
    1,
    { eventType: 'Redeploy' },
  ],
] as const) {
  test(`409 changed: Seen names ${what}`, async (t) => {
    const { fixture, approvals } = approvalsOverOneEvent(t);
    const event = fixture.known(KEY)?.event ?? assert.fail('no event');
    fixture.store.seenEvents.set('seen', { key: KEY, occurrence, change: 'scheduled', event });
    change(fixture, fields);
    const answer = await approvals.request(caller('orders'), { StartRequests: [{ EventId: EVENT_ID, Seen: 'seen' }] });
    assert.deepEqual(factsOf(answer), [409, 'changed', detail]);
  });
}

test('404 seen-unknown: Seen names no CloudEvent of this bridge', async (t) => {
  const { approvals } = approvalsOverOneEvent(t);
  const answer = await approvals.request(caller('orders'), { StartRequests: [{ EventId: EVENT_ID, Seen: 'other' }] });
  const detail = `Seen is not the id of a scheduled or updated CloudEvent that this bridge created for ${EVENT_ID}. Send the approval to the bridge that data.observer names.`;
  assert.deepEqual(factsOf(answer), [404, 'seen-unknown', detail]);
});
