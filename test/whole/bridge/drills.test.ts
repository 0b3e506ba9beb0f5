// Drills over a whole bridge → their lives, what is told of them, and their reports.
import assert from 'node:assert/strict';
import test from 'node:test';
import { approve, begin, changesOf, posts, reportOf, running, settings } from '../../virtual/drill-fixture.ts';
import { MINUTE, SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

test('approved, it starts at once and ends after its duration, and the metadata service gets nothing of it', async (t) => {
  const bridge = await running(t);
  const id = await begin(bridge, { notice: '2m', duration: '30s' });
  await bridge.advance(5 * SECOND);
  const events = await bridge.request('GET', '/v1/events', { as: 'billing' });
  assert.partialDeepStrictEqual((events.body as { events: readonly object[] }).events, [
    { eventId: `drill-${id}`, drill: true, observer: { documentIncarnation: null } },
  ]);
  assert.equal((await approve(bridge, id)).status, 200);
  await bridge.advance(SECOND);
  const started = await reportOf(bridge, id);
  assert.equal(started.state, 'started');
  assert.deepEqual(changesOf(started), ['scheduled', 'approval.recorded', 'approval.submitted', 'started']);
  await bridge.advance(31 * SECOND);
  const ended = await reportOf(bridge, id);
  assert.deepEqual([ended.state, changesOf(ended).at(-1), ended.missing], ['ended', 'ended', []]);
  assert.deepEqual(
    ended.approvers.map(({ name }) => name),
    ['orders'],
  );
  assert.ok(
    ended.changes.every(({ sinks }) => sinks.length === 1 && sinks[0]?.acceptedAt !== null && sinks[0]?.attempts === 1),
  );
  const life = await bridge.request('GET', `/v1/approvals/drill-${id}`, { as: 'billing' });
  assert.partialDeepStrictEqual(life.body, { eventId: `drill-${id}`, drill: true });
  assert.ok(bridge.sink('audit').events.every(({ data }) => data.drill === true));
  assert.equal(posts(bridge), 0);
  assert.deepEqual(
    bridge
      .beside('SELECT operator, act, subject FROM operator_acts')
      .map(({ operator, act, subject }) => `${operator} ${act} ${subject}`),
    [`orders drill ${id}`],
  );
});

test('a consumer does not approve: it starts at its NotBefore, and the report names the missing approver', async (t) => {
  const bridge = await running(t, settings({ required: 'all' }));
  const id = await begin(bridge, { notice: '1m', duration: '10s' });
  assert.deepEqual((await reportOf(bridge, id)).missing, ['orders', 'billing']);
  assert.equal((await approve(bridge, id)).status, 202);
  assert.deepEqual((await reportOf(bridge, id)).missing, ['billing']);
  await bridge.advance(75 * SECOND);
  const report = await reportOf(bridge, id);
  t.diagnostic(JSON.stringify(report));
  assert.deepEqual(
    [report.state, report.missing, report.approvers.map(({ name }) => name)],
    ['ended', ['billing'], ['orders']],
  );
  assert.deepEqual(changesOf(report), ['scheduled', 'approval.recorded', 'started', 'ended']);
  assert.equal(posts(bridge), 0);
});

for (const [required, missing] of [
  ['any', ['orders', 'billing']],
  [2, ['orders', 'billing']],
  [['billing'], ['billing']],
] as const) {
  test(`whom it lacked under required: ${JSON.stringify(required)}`, async (t) => {
    const bridge = await running(t, settings({ required }));
    const id = await begin(bridge, { notice: '5s', duration: '0s' });
    await bridge.advance(8 * SECOND);
    assert.deepEqual([(await reportOf(bridge, id)).missing, (await reportOf(bridge, id)).state], [missing, 'ended']);
  });
}

test('cancelled while it is scheduled or started, it ends as canceled; again is harmless, and an unknown one is 404', async (t) => {
  const bridge = await running(t);
  const [one, other] = [await begin(bridge), await begin(bridge)];
  await approve(bridge, other);
  await bridge.advance(SECOND);
  const cancel = (id: string) =>
    bridge.during(
      fetch(`${bridge.bridge.url}/v1/drills/${id}`, {
        method: 'DELETE',
        headers: { authorization: 'Bearer token-of-the-orders-service' },
      }),
    );
  for (const id of [one, other, one]) assert.equal((await cancel(id)).status, 204);
  assert.equal((await cancel('00000000-0000-4000-8000-000000000000')).status, 404);
  await bridge.advance(SECOND);
  for (const id of [one, other]) assert.equal((await reportOf(bridge, id)).state, 'canceled');
  assert.deepEqual((await reportOf(bridge, one)).missing, ['orders', 'billing']);
  assert.deepEqual(
    bridge.sink('audit').events.flatMap(({ data }) => data.outcome ?? []),
    ['canceled', 'canceled'],
  );
  assert.equal(bridge.beside("SELECT * FROM operator_acts WHERE act = 'cancel-drill'").length, 2);
});

for (const end of ['kill', 'stop'] as const) {
  test(`it survives a ${end} in each state, and what fell due meanwhile happens at the start, in order`, async (t) => {
    const bridge = await running(t);
    const [soon, late] = [
      await begin(bridge, { notice: '20s', duration: '30s' }),
      await begin(bridge, { notice: '10m', duration: '40s' }),
    ];
    const next = async (pauseMs: number) => {
      await bridge[end]();
      await bridge.advance(pauseMs);
      await bridge.startFor(3 * SECOND);
    };
    await next(SECOND);
    assert.equal((await reportOf(bridge, soon)).state, 'scheduled');
    await next(15 * SECOND);
    assert.deepEqual(
      [(await reportOf(bridge, soon)).state, (await reportOf(bridge, late)).state],
      ['started', 'scheduled'],
    );
    await next(30 * SECOND);
    assert.deepEqual(changesOf(await reportOf(bridge, soon)), ['scheduled', 'started', 'ended']);
    await next(15 * MINUTE);
    assert.deepEqual(changesOf(await reportOf(bridge, late)), ['scheduled', 'started', 'ended']);
    // After a kill some come again, with their ids.
    const once = new Map(bridge.sink('audit').events.map((event) => [event.id, event.type.split('.').at(-2)]));
    assert.deepEqual([...once.values()], ['scheduled', 'scheduled', 'started', 'ended', 'started', 'ended']);
    assert.equal(posts(bridge), 0);
  });
}

test('a real event is never changed: a drill is refused while one is listed, a forced one runs next to it, and metrics stay', async (t) => {
  const bridge = new VirtualBridge(t, { ...settings(), http: { drain: {} } });
  const { EventId } = bridge.simulation.schedule({ EventType: 'Freeze' });
  await bridge.startFor(2 * SECOND);
  const refused = await bridge.request('POST', '/v1/drills', { as: 'orders', body: {} });
  assert.deepEqual([refused.status, (refused.body as { type: string }).type], [409, 'event-listed']);
  const before = await bridge.metrics(/^(events|document_incarnation|approval)/);
  const state = () =>
    bridge.request('GET', '/v1/events', { as: 'billing' }).then(({ body }) => body as { documentIncarnation: number });
  const { documentIncarnation } = await state();
  const id = await begin(bridge, { force: true, notice: '3s', duration: '3s' });
  await bridge.advance(SECOND);
  assert.deepEqual(await bridge.metrics(/^(events|document_incarnation|approval)/), before);
  assert.deepEqual((await bridge.request('GET', '/drainz')).status, 200);
  await bridge.advance(8 * SECOND);
  assert.equal((await reportOf(bridge, id)).state, 'ended');
  assert.equal((await state()).documentIncarnation, documentIncarnation);
  const told = bridge.sink('audit').events.filter(({ data }) => data.eventId === EventId);
  assert.deepEqual(
    told.map(({ type }) => type.split('.').at(-2)),
    ['scheduled'],
  );
  assert.equal(posts(bridge), 0);
});

test('it lives on while the metadata service is away and the bridge is blind', async (t) => {
  const bridge = await running(t);
  bridge.simulation.order('PUT', '/faults', { status: 500, for: '10m' }, 204);
  await bridge.advance(2 * MINUTE);
  const id = await begin(bridge, { notice: '20s', duration: '5s' });
  await approve(bridge, id);
  await bridge.advance(8 * SECOND);
  assert.deepEqual(changesOf(await reportOf(bridge, id)), [
    'scheduled',
    'approval.recorded',
    'approval.submitted',
    'started',
    'ended',
  ]);
  assert.equal(posts(bridge), 0);
});

test('only admins begin and cancel; a fault in the body is 400 with its path', async (t) => {
  const bridge = await running(t);
  const asked = (as: 'orders' | 'billing', body: object) => bridge.request('POST', '/v1/drills', { as, body });
  assert.equal((await asked('billing', {})).status, 403);
  const faults = [
    { notice: '2d' },
    { resources: [] },
    { resources: 'a' },
    { eventType: '' },
    { froce: true },
    { duration: 5 },
  ];
  for (const body of faults) {
    const { status, body: told } = await asked('orders', body);
    assert.equal(status, 400);
    assert.ok((told as { detail: string }).detail.startsWith(String(Object.keys(body)[0])), JSON.stringify(told));
  }
  assert.deepEqual(bridge.beside('SELECT id FROM drills'), []);
});

test('half a surrogate pair in a name becomes a replacement character, as in documents', async (t) => {
  const bridge = await running(t);
  const id = await begin(bridge, {
    eventType: 'Re\ud800boot',
    resources: ['web_\udfff'],
    notice: '0s',
    duration: '0s',
  });
  await bridge.advance(3 * SECOND);
  assert.equal((await reportOf(bridge, id)).state, 'ended');
  for (const { data } of bridge.sink('audit').events)
    assert.deepEqual([data['eventType'], data['resources']], ['Re\ufffdboot', ['web_\ufffd']]);
});
