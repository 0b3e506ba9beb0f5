// Good and bad requests → the metadata service's protocol, clause by clause.
import assert from 'node:assert/strict';
import test from 'node:test';
import { API_VERSIONS } from '../../../../src/model/api-versions.ts';
import { simulatedGroup } from '../../../virtual/simulated-group.ts';
import { EVENTS, jsonOf, Simulation, textOf } from '../../../virtual/simulation.ts';

test('an empty simulator lists nothing, with incarnation 1 (F-12, F-15, F-19)', () => {
  const answer = new Simulation().get(EVENTS);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  assert.deepEqual(jsonOf(answer), { DocumentIncarnation: 1, Events: [] });
});

test("letter case of the path and of the Metadata header's value is ignored (F-02, F-08)", () => {
  const answer = new Simulation().send('GET', '/Metadata/ScheduledEvents?api-version=2020-07-01', {
    headers: { METADATA: 'True' },
  });
  assert.equal(answer.status, 200);
});

for (const [method, url] of [
  ['GET', EVENTS],
  ['POST', EVENTS],
  ['GET', '/metadata/instance?api-version=2021-02-01'],
] as const) {
  test(`a ${method} of ${url} without the header Metadata: true gets 400 (F-02)`, () => {
    const simulation = new Simulation();
    for (const headers of [{}, { Metadata: 'false' }, { Metadata: '' }]) {
      const answer = simulation.send(method, url, { headers, body: { StartRequests: [] } });
      assert.equal(answer.status, 400);
      assert.match(jsonOf<{ error: string }>(answer).error, /metadata header not specified/);
    }
  });
}

test('a request that came through a proxy gets 400 (F-03)', () => {
  const answer = new Simulation().get(EVENTS, { 'X-Forwarded-For': '10.0.0.1' });
  assert.equal(answer.status, 400);
  assert.match(textOf(answer), /X-Forwarded-For/);
});

for (const query of [
  '',
  '?',
  '?api-version=',
  '?api-version=2020-07-02',
  '?api-version=latest',
  '?api-version={latest}',
  '?api-version=2020-07-01&api-version=2020-07-01',
  '?api-version=2020-07-01&Api-Version=2019-08-01',
]) {
  test(`"${query}" does not have exactly one known api-version: 400 with the newest ones (F-04, F-05, F-06)`, () => {
    const simulation = new Simulation();
    for (const method of ['GET', 'POST']) {
      const answer = simulation.send(method, `/metadata/scheduledevents${query}`, { headers: { Metadata: 'true' } });
      assert.equal(answer.status, 400);
      assert.deepEqual(jsonOf<Record<string, unknown>>(answer)['newest-versions'], [
        '2024-07-09',
        '2020-07-01',
        '2019-08-01',
      ]);
    }
  });
}

for (const [unknownApiVersion, body] of [
  [400, { error: /^Bad request\. api-version is invalid/, newest: ['2020-07-01', '2019-08-01', '2019-04-01'] }],
  [404, { error: /^Not found\. Invalid version requested$/, newest: undefined }],
] as const) {
  test(`a host without 2024-07-09 answers the configured ${unknownApiVersion} and does not list that version (F-05)`, () => {
    const { first } = simulatedGroup({ apiVersions: API_VERSIONS.slice(1), unknownApiVersion });
    for (const [method, query] of [
      ['GET', '2024-07-09'],
      ['POST', '2024-07-09'],
      ['GET', '2020-07-02'],
    ] as const) {
      const answer = first.ask(method, `/metadata/scheduledevents?api-version=${query}`, { StartRequests: [] });
      const said = jsonOf<{ error: string; 'newest-versions'?: string[] }>(answer);
      assert.deepEqual([answer.status, said['newest-versions']], [unknownApiVersion, body.newest], query);
      assert.match(said.error, body.error);
    }
    assert.equal(first.get().status, 200);
    const { apiVersions } = jsonOf<{ apiVersions: string[] }>(first.get('/metadata/versions'));
    assert.deepEqual([apiVersions.includes('2024-07-09'), apiVersions.includes('2020-07-01')], [false, true]);
  });
}

test('a version that is missing or not a date gets 400, even on a host that answers unknown ones with 404 (F-04, F-05)', () => {
  const { first } = simulatedGroup({ unknownApiVersion: 404 });
  for (const query of ['', '?api-version=', '?api-version=latest', '?api-version={latest}'])
    assert.equal(first.get(`/metadata/scheduledevents${query}`).status, 400, query);
  assert.equal(first.get('/metadata/instance?api-version=2016-09-02').status, 404);
});

for (const method of ['PUT', 'DELETE', 'HEAD', 'PATCH', 'OPTIONS', 'constructor']) {
  test(`the service does not support ${method}: 405 (F-09)`, () => {
    const answer = new Simulation().send(method, EVENTS, { headers: { Metadata: 'true' } });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers['allow'], 'GET, POST');
  });
}

test('an unknown path gets 404 (F-11)', () => {
  const simulation = new Simulation();
  for (const url of [
    '/metadata?api-version=2021-02-01',
    '/metadata/identity?api-version=2020-07-01',
    '/metadata/scheduledevents/x?api-version=2020-07-01',
    '/metadata/instance/network?api-version=2021-02-01',
    '/',
    '/metadatax',
    '//',
    '*',
    '',
  ]) {
    assert.equal(simulation.get(url).status, 404, url);
  }
});

test('the ETag is the incarnation, and a GET with it gets 304 without a body (F-17)', () => {
  const simulation = new Simulation();
  const etag = simulation.get(EVENTS).headers['etag'];
  assert.equal(etag, '"1"');
  for (const tag of ['"1"', 'W/"1"', '"7", "1"', '*']) {
    const answer = simulation.get(EVENTS, { 'If-None-Match': tag });
    assert.deepEqual([answer.status, answer.headers['etag'], answer.body.length], [304, '"1"', 0], tag);
  }
  simulation.schedule();
  const changed = simulation.get(EVENTS, { 'If-None-Match': '"1"' });
  assert.deepEqual([changed.status, changed.headers['etag']], [200, '"2"']);
});

test('a StartRequest starts the event for all its Resources, needs no Content-Type and can have additional keys (F-56, F-69, F-70, F-71)', () => {
  const simulation = new Simulation();
  const { EventId } = simulation.schedule({ Resources: ['sim_0', 'sim_1'] });
  const answer = simulation.startRequests({
    StartRequests: [{ EventId: EventId.toLowerCase(), more: 1 }],
    DocumentIncarnation: 2,
  });
  assert.deepEqual([answer.status, answer.body.length], [200, 0]);
  const [event] = simulation.document().Events;
  assert.deepEqual(
    [event?.EventId, event?.EventStatus, event?.NotBefore, event?.Resources],
    [EventId, 'Started', '', ['sim_0', 'sim_1']],
  );
});

test('approving twice gets 200 and changes nothing more (F-67)', () => {
  const simulation = new Simulation();
  const { EventId } = simulation.schedule();
  simulation.approve(EventId, EventId);
  const before = simulation.document();
  assert.equal(before.DocumentIncarnation, 3);
  assert.equal(simulation.approve(EventId).status, 200);
  assert.deepEqual(simulation.document(), before);
});

test('several StartRequests in one POST are one change (F-15, F-29, F-66)', () => {
  const simulation = new Simulation();
  const ids = [simulation.schedule().EventId, simulation.schedule({ EventType: 'Reboot' }).EventId];
  assert.equal(simulation.document().DocumentIncarnation, 3);
  simulation.approve(...ids);
  assert.equal(simulation.document().DocumentIncarnation, 4);
  assert.deepEqual(
    simulation.statuses(),
    ids.map((id) => [id, 'Started']),
  );
});

for (const body of [
  '',
  '{',
  'null',
  '[]',
  '"text"',
  '{}',
  '{"StartRequests":{}}',
  '{"StartRequests":"x"}',
  '{"StartRequests":[null]}',
  '{"StartRequests":["id"]}',
  '{"StartRequests":[[]]}',
  '{"StartRequests":[{}]}',
  '{"StartRequests":[{"EventId":7}]}',
  '{"startrequests":[]}',
]) {
  test(`the POST body ${body || '(none)'} is malformed: 400 (F-68)`, () => {
    assert.equal(new Simulation().startRequests(body).status, 400);
  });
}

test('a POST body that is not UTF-8 is malformed: 400 (F-68)', () => {
  const { simulator } = new Simulation();
  const body = Uint8Array.of(0x7b, 0xff, 0x7d);
  assert.equal(simulator.handle({ method: 'POST', url: EVENTS, headers: { metadata: 'true' }, body }).status, 400);
});

test('an EventId that is no longer listed, or never was, gets 400, and nothing in the POST is approved (F-72)', () => {
  const simulation = new Simulation();
  const { EventId } = simulation.schedule();
  const gone = simulation.schedule().EventId;
  simulation.send('POST', `/simulator/events/${gone}/cancel`);
  assert.equal(simulation.approve(gone).status, 400);
  const answer = simulation.approve(EventId, 'no-such-event');
  assert.equal(answer.status, 400);
  assert.match(textOf(answer), /no-such-event/);
  assert.deepEqual(simulation.statuses(), [[EventId, 'Scheduled']]);
});

test('a machine can neither list nor approve an event that only others see (F-59)', () => {
  const simulation = new Simulation();
  const { EventId } = simulation.schedule({ seen: ['other'] });
  assert.deepEqual(simulation.document(), { DocumentIncarnation: 1, Events: [] });
  assert.equal(simulation.approve(EventId).status, 400);
  simulation.send('PATCH', `/simulator/events/${EventId}`, { body: { seen: ['SIM_0'] } });
  assert.deepEqual([simulation.document().DocumentIncarnation, simulation.statuses()], [2, [[EventId, 'Scheduled']]]);
});

test("the instance routes have the VM's name, scale set and location, all as texts (F-82, F-83)", () => {
  const simulation = new Simulation({ vmName: 'WestNO_3' });
  const { compute } = jsonOf<{ compute: Record<string, string> }>(
    simulation.get('/Metadata/instance?api-version=2021-02-01&format=json'),
  );
  assert.deepEqual(jsonOf(simulation.get('/metadata/instance/compute?api-version=2020-07-01')), compute);
  assert.equal(compute['name'], 'WestNO_3');
  assert.equal(compute['vmScaleSetName'], 'WestNO');
  assert.match(compute['vmId'] ?? '', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.equal(
    compute['resourceId'],
    `/subscriptions/${compute['subscriptionId']}/resourceGroups/${compute['resourceGroupName']}/providers/Microsoft.Compute/virtualMachineScaleSets/WestNO/virtualMachines/3`,
  );
  const { tagsList, ...texts } = compute;
  assert.ok(Object.values(texts).every((value) => typeof value === 'string'));
  assert.deepEqual(jsonOf(simulation.get('/metadata/instance/compute/tagsList?api-version=2021-02-01')), tagsList);
});

test('tags are given as one text and as a list of names and values (F-82)', () => {
  const compute = jsonOf<Record<string, unknown>>(
    new Simulation().get('/metadata/instance/compute?api-version=2021-02-01'),
  );
  assert.equal(compute['tags'], 'environment:simulated;team:maintenance');
  assert.deepEqual(compute['tagsList'], [
    { name: 'environment', value: 'simulated' },
    { name: 'team', value: 'maintenance' },
  ]);
});

test('a VM outside a scale set has an empty scale set name (F-84)', () => {
  const simulation = new Simulation({ vmName: 'db' });
  const compute = jsonOf<Record<string, string>>(simulation.get('/metadata/instance/compute?api-version=2021-02-01'));
  assert.equal(compute['vmScaleSetName'], '');
  assert.match(compute['resourceId'] ?? '', /\/virtualMachines\/db$/);
});

test('a VM has the same vmId in every simulator, and another VM has a different one (F-85)', () => {
  const vmId = (vmName: string) =>
    jsonOf<Record<string, string>>(new Simulation({ vmName }).get('/metadata/instance/compute?api-version=2021-02-01'))[
      'vmId'
    ];
  assert.equal(vmId('a'), vmId('a'));
  assert.notEqual(vmId('a'), vmId('b'));
});

test('the instance routes require a version and reject POST (F-04, F-09, F-86)', () => {
  const simulation = new Simulation();
  for (const query of [
    '',
    '?api-version=latest',
    '?api-version=2016-01-01',
    '?api-version=2021-02-01&api-version=2021-02-01',
  ]) {
    const answer = simulation.get(`/metadata/instance/compute${query}`);
    assert.equal(answer.status, 400);
    assert.ok(Array.isArray(jsonOf<Record<string, unknown>>(answer)['newest-versions']));
  }
  assert.equal(
    simulation.send('POST', '/metadata/instance?api-version=2021-02-01', { headers: { Metadata: 'true' } }).status,
    405,
  );
});
