// What the metadata service says to a StartRequest → when it is posted again, what is told.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  ANY,
  approve,
  atPost,
  type Fault,
  heard,
  life,
  order,
  posts,
  record,
  SHARED,
  slowAnswers,
  statuses,
  watching,
} from '../../virtual/posting-fixture.ts';
import { MINUTE, SECOND } from '../../virtual/virtual-bridge.ts';

/** The least and the most seconds from one StartRequest to the next. */
type Gaps = readonly (readonly [number, number])[];

const BACK_OFF: Gaps = [
  [0.5, 1],
  [1, 2],
  [2, 4],
  [1, 1],
  [1, 1],
];
const after = (...seconds: readonly number[]): Gaps => seconds.map((one) => [one, one]);
const HTML = '<html><body>Sign in to the network</body></html>';

/** Said, how it is said, the status in the record, and the rhythm of the next StartRequests. */
const AGAIN: readonly (readonly [string, Fault, number | string, Gaps])[] = [
  ['404', { status: 404 }, 404, BACK_OFF],
  ['408', { status: 408 }, 408, BACK_OFF],
  ['500', { status: 500, body: { error: 'no' } }, 500, BACK_OFF],
  [
    '503 with a Retry-After, which counts with 429 alone',
    { status: 503, headers: { 'Retry-After': '30' } },
    503,
    BACK_OFF,
  ],
  ['504 with HTML', { status: 504, headers: { 'Content-Type': 'text/html' }, body: HTML }, 504, BACK_OFF],
  ['204', { status: 204 }, 204, BACK_OFF],
  ['302', { status: 302, headers: { Location: 'http://127.0.0.1:1/' } }, 302, BACK_OFF],
  ['410', { status: 410 }, 410, after(10, 10, 10, 10, 10, 10, 10, 1, 1)],
  ['429', { status: 429 }, 429, after(1, 2, 4, 8, 10, 10)],
  ['429 with Retry-After: 3', { status: 429, headers: { 'Retry-After': '3' } }, 429, after(3, 3, 3)],
  ['429 with Retry-After: 60', { status: 429, headers: { 'Retry-After': '60' } }, 429, after(10, 10, 10)],
  ['429 with Retry-After: 0', { status: 429, headers: { 'Retry-After': '0' } }, 429, after(1, 1, 1)],
  ['a reset', { reset: true }, 'BRIDGE_METADATA_UNREACHABLE', BACK_OFF],
  [
    'half an answer',
    { status: 200, body: { half: 'an answer' }, truncate: 5 },
    'BRIDGE_METADATA_UNREACHABLE',
    BACK_OFF,
  ],
  [
    'nothing at all',
    { delay: '1h' },
    'BRIDGE_METADATA_TIMEOUT',
    [
      [10.5, 11],
      [11, 12],
      [12, 14],
      [10, 10],
    ],
  ],
];

for (const [said, fault, status, gaps] of AGAIN) {
  test(`${said}, once: the approver gets submitting, it is posted again, and both are in the record`, async (t) => {
    const { bridge, eventId } = await watching(t, ANY);
    order(bridge, { ...fault, times: 1 });
    const reply = await approve(bridge, 'orders', eventId);
    assert.deepEqual(heard(reply), [202, 'submitting']);
    await bridge.advance(15 * SECOND);
    assert.equal(posts(bridge).length, 2);
    assert.deepEqual(gapsOutside(posts(bridge), gaps), []);
    await bridge.advance(2 * SECOND);
    assert.deepEqual(await record(bridge, eventId), [
      ['recorded', null],
      ['decided', null],
      ['answered', status],
      ['submitted', 200],
      ['confirmed', null],
    ]);
    assert.deepEqual(bridge.sink('audit').changes, ['scheduled', 'approval.recorded', 'approval.submitted', 'started']);
  });

  test(`${said}, for minutes: it is posted at the interval of the polls, and reported once the service accepts it`, async (t) => {
    const { bridge, eventId } = await watching(t, ANY);
    order(bridge, fault);
    assert.deepEqual(heard(await approve(bridge, 'orders', eventId)), [202, 'submitting']);
    await bridge.advance(100 * SECOND);
    assert.ok(posts(bridge).length > gaps.length);
    assert.deepEqual(gapsOutside(posts(bridge), gaps), []);
    assert.deepEqual(heard(await approve(bridge, 'orders', eventId)), [202, 'submitting']);
    assert.equal(bridge.sink('audit').changes.at(-1), 'approval.recorded');
    order(bridge, {});
    await bridge.advance(25 * SECOND);
    assert.equal(bridge.sink('audit').changes.filter((change) => change === 'approval.submitted').length, 1);
    const steps = await record(bridge, eventId);
    assert.deepEqual(steps.slice(2), [
      ['answered', status],
      ['submitted', 200],
      ['confirmed', null],
    ]);
  });
}

test('a proxy’s page with 200 accepts nothing: it is posted again until the service itself answers', async (t) => {
  const { bridge, eventId } = await watching(t, ANY);
  order(bridge, { status: 200, headers: { 'Content-Type': 'text/html' }, body: HTML, times: 2 });
  assert.deepEqual(heard(await approve(bridge, 'orders', eventId)), [202, 'submitting']);
  await bridge.advance(5 * SECOND);
  assert.equal(posts(bridge).length, 3);
  assert.deepEqual((await record(bridge, eventId)).slice(2), [
    ['answered', 'BRIDGE_METADATA_INVALID'],
    ['submitted', 200],
    ['confirmed', null],
  ]);
});

for (const [what, move, state] of [
  ['starts', 'start', 'moot'],
  ['is cancelled', 'cancel', 'moot'],
] as const) {
  test(`the event ${what} while its StartRequest is refused for now: none is posted any more, and the approval is ${state}`, async (t) => {
    const { bridge, eventId } = await watching(t, ANY);
    order(bridge, { status: 503 });
    await approve(bridge, 'orders', eventId);
    await bridge.advance(20 * SECOND);
    bridge.simulation.order('POST', `/events/${eventId}/${move}`);
    await bridge.advance(SECOND);
    const before = posts(bridge).length;
    order(bridge, {});
    await bridge.advance(5 * MINUTE);
    assert.equal(posts(bridge).length, before);
    assert.deepEqual((await record(bridge, eventId)).at(-1), [state, null]);
    assert.ok(!bridge.sink('audit').changes.includes('approval.submitted'));
  });

  test(`the event ${what} between a poll and the decision: the look before the POST sees it, and nothing is posted`, async (t) => {
    const { bridge, eventId } = await watching(t, ANY, { pollInterval: '30s' });
    await bridge.advance(15 * SECOND);
    bridge.simulation.order('POST', `/events/${eventId}/${move}`);
    assert.deepEqual(heard(await approve(bridge, 'orders', eventId)), [200, 'moot']);
    await bridge.advance(5 * MINUTE);
    assert.deepEqual(posts(bridge), []);
  });
}

for (const status of [400, 401, 403, 405]) {
  test(`${status} while it stays Scheduled: failed, and posted again only after another approval`, async (t) => {
    const { bridge, eventId } = await watching(t, ANY);
    order(bridge, { status, times: 2 });
    assert.deepEqual(heard(await approve(bridge, 'orders', eventId)), [502, 'refused']);
    await bridge.advance(5 * MINUTE);
    assert.deepEqual(statuses(bridge), [status]);
    assert.equal((await life(bridge, eventId)).state, 'failed');
    assert.deepEqual(heard(await approve(bridge, 'orders', eventId)), [502, 'refused']);
    assert.deepEqual(heard(await approve(bridge, 'orders', eventId)), [200, 'submitted']);
    assert.deepEqual(statuses(bridge), [status, status, 200]);
    await bridge.advance(SECOND);
    const { events, changes } = bridge.sink('audit');
    const [yes, no] = ['approval.recorded', 'approval.failed'];
    assert.deepEqual(changes.slice(1, 7), [yes, no, yes, no, yes, 'approval.submitted']);
    assert.deepEqual([events[2]?.data.reason, events[2]?.data.approver], ['refused', 'orders']);
    const answers = (await record(bridge, eventId)).filter(([step]) => step !== 'decided');
    assert.deepEqual(answers.slice(0, 3), [
      ['recorded', null],
      ['answered', status],
      ['failed', status],
    ]);
  });

  test(`${status} to the StartRequest of a rule: failed, and posted again each minute while it is Scheduled`, async (t) => {
    const { bridge, eventId } = await watching(
      t,
      { policy: [{ when: {}, then: 'approve' }] },
      {},
      {},
      { status, times: 3 },
    );
    await bridge.advance(30 * SECOND);
    assert.equal((await life(bridge, eventId)).state, 'failed');
    await bridge.advance(2 * MINUTE);
    assert.deepEqual(statuses(bridge), [status, status, status]);
    await bridge.advance(MINUTE);
    assert.deepEqual(statuses(bridge), [status, status, status, 200]);
    const times = posts(bridge);
    for (const [index, at] of times.entries()) assert.equal(at - (times[0] ?? 0), index * MINUTE);
    assert.deepEqual(bridge.sink('audit').changes.slice(0, 3), ['scheduled', 'approval.failed', 'approval.submitted']);
  });

  test(`${status} to a StartRequest during which the event started: moot, and no approval.failed`, async (t) => {
    const { bridge, eventId } = await watching(t, ANY);
    order(bridge, { status, times: 1 });
    atPost(bridge, () => bridge.simulation.order('POST', `/events/${eventId}/start`));
    assert.deepEqual(heard(await approve(bridge, 'orders', eventId)), [200, 'moot']);
    await bridge.advance(MINUTE);
    assert.deepEqual(statuses(bridge), [status]);
    assert.deepEqual(bridge.sink('audit').changes, ['scheduled', 'approval.recorded', 'started']);
  });
}

for (const [what, fault] of [
  ['an empty 200', { status: 200, body: '' }],
  ['a 200 with other JSON', { status: 200, body: { accepted: true } }],
] as const) {
  test(`${what} accepts: submitted, and its age is to be seen until the event starts by itself`, async (t) => {
    const { bridge, eventId } = await watching(t, ANY);
    order(bridge, { ...fault, times: 1 });
    assert.deepEqual(heard(await approve(bridge, 'orders', eventId)), [200, 'submitted']);
    await bridge.advance(5 * MINUTE);
    const { state, notStartedForSeconds } = await life(bridge, eventId);
    assert.equal(state, 'submitted');
    assert.ok(notStartedForSeconds !== null && notStartedForSeconds >= 300, `${notStartedForSeconds}`);
    await bridge.advance(11 * MINUTE);
    assert.equal((await life(bridge, eventId)).state, 'confirmed');
    assert.deepEqual(statuses(bridge), [200]);
  });
}

test('an answer after five seconds, from a service that delays the event: the approver gets submitting, and it is posted once', async (t) => {
  const { bridge, eventId } = await watching(t, ANY, {}, SHARED);
  const beganMs = bridge.time.wallMs();
  bridge.service = slowAnswers(bridge.service, bridge, 5 * SECOND);
  assert.deepEqual(heard(await approve(bridge, 'orders', eventId)), [202, 'submitting']);
  assert.ok(bridge.time.wallMs() - beganMs < 5 * SECOND);
  await bridge.advance(6 * SECOND);
  assert.deepEqual(statuses(bridge), [200]);
  assert.equal((await life(bridge, eventId)).state, 'submitted');
});

test('a hold while an answer takes six seconds: it is not confirmed, and the record has none', async (t) => {
  const { bridge, eventId } = await watching(t, ANY, {}, SHARED);
  bridge.service = slowAnswers(bridge.service, bridge, 6 * SECOND);
  const approving = approve(bridge, 'orders', eventId);
  const beganMs = bridge.time.wallMs();
  assert.deepEqual(heard(await approving), [202, 'submitting']);
  const held = await bridge.request('POST', '/v1/holds', { as: 'billing', body: { EventId: eventId } });
  assert.deepEqual(heard(held), [409, 'submitting']);
  assert.ok(bridge.time.wallMs() - beganMs < 6 * SECOND);
  const late = await bridge.request('POST', '/v1/holds', { as: 'billing', body: { EventId: eventId } });
  assert.deepEqual(heard(late), [409, 'submitted']);
  const steps = (await life(bridge, eventId)).steps.map(({ step }) => step);
  assert.deepEqual(steps, ['recorded', 'decided', 'submitted']);
});

test('a hold while the service answers 503 after a second holds, and nothing is posted any more', async (t) => {
  const { bridge, eventId } = await watching(t, ANY, {}, {}, { status: 503 });
  bridge.service = slowAnswers(bridge.service, bridge, SECOND);
  const approving = approve(bridge, 'orders', eventId);
  const held = await bridge.request('POST', '/v1/holds', { as: 'billing', body: { EventId: eventId } });
  assert.equal(held.status, 201);
  assert.equal((await approving).status, 202);
  await bridge.advance(MINUTE);
  const before = posts(bridge).length;
  await bridge.advance(5 * MINUTE);
  assert.equal(posts(bridge).length, before);
  assert.equal((await life(bridge, eventId)).state, 'held');
});

test('an answer after a document with Started: submitted and confirmed, each reported once', async (t) => {
  const { bridge, eventId } = await watching(t, ANY);
  bridge.service = slowAnswers(bridge.service, bridge, 5 * SECOND);
  await approve(bridge, 'orders', eventId);
  await bridge.advance(MINUTE);
  assert.deepEqual(statuses(bridge), [200]);
  const { state, notStartedForSeconds, steps } = await life(bridge, eventId);
  assert.deepEqual([state, notStartedForSeconds], ['confirmed', null]);
  assert.equal(
    steps.filter(({ step, status }) => step === 'submitted' && status === 200).length,
    1,
    JSON.stringify(steps),
  );
  assert.deepEqual(bridge.sink('audit').changes.slice().sort(), [
    'approval.recorded',
    'approval.submitted',
    'scheduled',
    'started',
  ]);
});

test('a dry run posts nothing, for any answer of the service, and a later start without it does not post it either', async (t) => {
  const dry = { ...ANY, dryRun: true };
  const { bridge, eventId } = await watching(t, dry);
  order(bridge, { status: 503 });
  assert.deepEqual(heard(await approve(bridge, 'orders', eventId)), [200, 'dry-run']);
  await bridge.kill();
  order(bridge, {});
  await bridge.startFor(MINUTE, { approvals: ANY });
  assert.deepEqual(posts(bridge), []);
  assert.ok(!bridge.sink('audit').changes.includes('approval.submitted'));
  assert.deepEqual(heard(await approve(bridge, 'orders', eventId)), [200, 'submitted']);
});

/** The gaps that are none of the rhythm's, in seconds. */
function gapsOutside(times: readonly number[], gaps: Gaps): readonly string[] {
  return gaps.flatMap(([least, most], index) => {
    const [from, to] = [times[index], times[index + 1]];
    if (from === undefined || to === undefined) return [];
    const seconds = (to - from) / SECOND;
    // Whole milliseconds.
    return seconds >= least - 0.001 && seconds <= most + 0.001 ? [] : [`gap ${index}: ${seconds} s`];
  });
}
