// Control requests → their effects, and refusals of what is invalid, unknown or impossible.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { SimAnswer } from '../../../../src/simulator/answer.ts';
import type { WireEvent } from '../../../../src/simulator/events/event.ts';
import { EVENTS, jsonOf, Simulation, textOf } from '../../../virtual/simulation.ts';

interface Problem {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly faults?: readonly { readonly path: string; readonly message: string }[];
}

function problemOf(answer: SimAnswer, status: number): Problem {
  assert.equal(answer.status, status, textOf(answer));
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  const problem = jsonOf<Problem>(answer);
  assert.equal(problem.status, status);
  assert.ok(problem.title && problem.detail);
  return problem;
}

test('an event can be given with every field, and its answer has the Location of its routes', () => {
  const simulation = new Simulation();
  const fields: WireEvent = {
    EventId: 'my event/7',
    EventType: 'Pause',
    ResourceType: 'RoleInstance',
    Resources: [],
    EventStatus: 'Scheduled',
    NotBefore: 'Tue, 01 Jan 2030 00:00:00 GMT',
    Description: '',
    EventSource: 'User',
    DurationInSeconds: 0,
  };
  const answer = simulation.send('POST', '/simulator/events', { body: { ...fields, seen: ['sim_0'] } });
  assert.deepEqual([answer.status, answer.headers['location']], [201, '/simulator/events/my%20event%2F7']);
  assert.deepEqual(jsonOf(answer), fields);
  assert.deepEqual(simulation.document().Events, [fields]);
  assert.equal(simulation.send('POST', `${answer.headers['location']}/start`).status, 200);
  assert.deepEqual(simulation.statuses(), [['my event/7', 'Started']]);
});

test('one answer names each invalid field of an event and the rule, and nothing is scheduled', () => {
  const simulation = new Simulation();
  const body = {
    EventId: '',
    EventType: 7,
    Resources: ['a', 1],
    EventStatus: 'Completed',
    NotBefore: 'tomorrow',
    DurationInSeconds: 2.5,
    seen: 'sim_0',
    Recources: [],
  };
  const { faults, detail } = problemOf(simulation.send('POST', '/simulator/events', { body }), 400);
  assert.deepEqual(Object.fromEntries(faults?.map(({ path, message }) => [path, message]) ?? []), {
    EventId: 'must not be empty',
    EventType: 'must be a text, not a number',
    'Resources[1]': 'must be a text, not a number',
    EventStatus: 'must be Scheduled or Started',
    NotBefore: 'must be a date such as "Mon, 11 Apr 2022 22:26:58 GMT" or 2022-04-11T22:26:58Z, or ""',
    DurationInSeconds: 'must be a whole number',
    seen: 'must be a list, not a text',
    Recources: 'is not a key of the event',
  });
  for (const { path, message } of faults ?? []) assert.ok(detail.includes(`${path}: ${message}`), path);
  assert.match(detail, /Recources: .*did you mean Resources\?/);
  assert.deepEqual(simulation.document(), { DocumentIncarnation: 1, Events: [] });
});

for (const body of ['{', '[]', '"x"', 'null', '7']) {
  test(`the control body ${body} is not a JSON object: 400`, () => {
    const simulation = new Simulation();
    const { EventId } = simulation.schedule();
    for (const [method, path] of [
      ['POST', '/simulator/events'],
      ['PATCH', `/simulator/events/${EventId}`],
      ['PUT', '/simulator/faults'],
      ['PUT', '/simulator/clock'],
    ] as const) {
      problemOf(simulation.send(method, path, { body }), 400);
    }
  });
}

test("an EventId cannot be used again, in any letter case, nor after the event's end (F-20)", () => {
  const simulation = new Simulation();
  simulation.schedule({ EventId: 'one' });
  problemOf(simulation.send('POST', '/simulator/events', { body: { EventId: 'ONE' } }), 409);
  simulation.send('DELETE', '/simulator');
  problemOf(simulation.send('POST', '/simulator/events', { body: { EventId: 'one' } }), 409);
});

test('PATCH changes only the given fields; the same content again is not a change', () => {
  const simulation = new Simulation();
  const before = simulation.schedule();
  const patch = () =>
    simulation.send('PATCH', `/simulator/events/${before.EventId.toLowerCase()}`, {
      body: { DurationInSeconds: 9, EventId: before.EventId },
    });
  assert.deepEqual(jsonOf(patch()), { ...before, DurationInSeconds: 9 });
  assert.equal(simulation.document().DocumentIncarnation, 3);
  assert.equal(patch().status, 200);
  assert.equal(simulation.document().DocumentIncarnation, 3);
});

test('PATCH can start an event, which then ends like any other', () => {
  const simulation = new Simulation();
  const { EventId } = simulation.schedule();
  const answer = simulation.send('PATCH', `/simulator/events/${EventId}`, { body: { EventStatus: 'Started' } });
  assert.deepEqual([jsonOf<WireEvent>(answer).EventStatus, jsonOf<WireEvent>(answer).NotBefore], ['Started', '']);
  simulation.advance('10m');
  assert.deepEqual(simulation.statuses(), []);
});

test('changes of a Started event keep its end (F-44)', () => {
  const simulation = new Simulation();
  const { EventId } = simulation.schedule({ EventStatus: 'Started' });
  simulation.advance('5m');
  simulation.send('PATCH', `/simulator/events/${EventId}`, { body: { DurationInSeconds: 30, NotBefore: '' } });
  simulation.advance('5m');
  assert.deepEqual(simulation.statuses(), []);
});

test('an impossible transition gets 409 and changes nothing (F-22, F-40, F-53)', () => {
  const simulation = new Simulation();
  const scheduled = simulation.schedule().EventId;
  const started = simulation.schedule({ EventStatus: 'Started' }).EventId;
  const gone = simulation.schedule().EventId;
  simulation.send('POST', `/simulator/events/${gone}/cancel`);
  const before = simulation.document();
  for (const [method, path, body] of [
    ['POST', `${scheduled}/end`],
    ['POST', `${started}/start`],
    ['POST', `${started}/cancel`],
    ['PATCH', started, { EventStatus: 'Scheduled' }],
    ['PATCH', started, { NotBefore: '2030-01-01T00:00:00Z' }],
    ['PATCH', scheduled, { EventId: 'another' }],
    ['PATCH', gone, { Description: 'x' }],
    ['POST', `${gone}/start`],
    ['POST', `${gone}/end`],
    ['POST', `${gone}/cancel`],
  ] as const) {
    problemOf(simulation.send(method, `/simulator/events/${path}`, { body }), 409);
  }
  assert.deepEqual(simulation.document(), before);
});

test('an unknown event gets 404 on every route', () => {
  const simulation = new Simulation();
  problemOf(simulation.send('PATCH', '/simulator/events/nobody', { body: {} }), 404);
  for (const move of ['start', 'end', 'cancel'])
    problemOf(simulation.send('POST', `/simulator/events/nobody/${move}`), 404);
});

test('an unknown route gets 404, a wrong method 405 with the allowed ones', () => {
  const simulation = new Simulation();
  for (const path of [
    '/simulator/nothing',
    '/simulator/events/x/pause',
    '/simulator/events/%zz/start',
    `/simulator/events/${'x'.repeat(2000)}/start`,
  ]) {
    problemOf(simulation.send('POST', path), 404);
  }
  for (const [method, path, allow] of [
    ['PUT', '/simulator', 'DELETE, GET'],
    ['DELETE', '/simulator/clock', 'PUT, GET'],
    ['TRACE', '/simulator/faults', 'PUT'],
  ] as const) {
    const answer = simulation.send(method, path);
    problemOf(answer, 405);
    assert.deepEqual(answer.headers['allow']?.split(', ').sort(), allow.split(', ').sort());
  }
});

for (const body of [
  {},
  { speed: -1 },
  { speed: '2' },
  { speed: 1e9 },
  { advance: 15 },
  { advance: '15 minutes' },
  { advance: '-1s' },
  { advance: '9000000d' },
  { now: '2030-01-01T00:00:00Z' },
  { notBefore: 'real' },
]) {
  test(`the clock rejects ${JSON.stringify(body)}`, () => {
    const simulation = new Simulation();
    const before = textOf(simulation.send('GET', '/simulator/clock'));
    assert.ok(problemOf(simulation.send('PUT', '/simulator/clock', { body }), 400).faults);
    assert.equal(textOf(simulation.send('GET', '/simulator/clock')), before);
  });
}

test('a renamed scenario starts by its former name, and is listed by its current one', () => {
  const started = jsonOf<{ name: string; running: boolean }>(
    new Simulation().order('POST', '/scenarios/user-reboot-at-once'),
  );
  assert.deepEqual([started.name, started.running], ['auto-approved-user-reboot', true]);
});

test('the scenarios are listed with their purpose, and an unknown one gets 404', () => {
  const simulation = new Simulation();
  const list = jsonOf<{ name: string; purpose: string; running: boolean }[]>(
    simulation.send('GET', '/simulator/scenarios'),
  );
  assert.equal(list[0]?.name, 'demo');
  for (const { purpose, running } of list) assert.ok(purpose !== '' && !running);
  assert.match(problemOf(simulation.send('POST', '/simulator/scenarios/nothing'), 404).detail, /demo/);
});

test('a scenario replaces the running one and keeps other events', () => {
  const simulation = new Simulation();
  const mine = simulation.schedule().EventId;
  simulation.send('POST', '/simulator/scenarios/demo');
  const first = simulation.statuses()[1]?.[0];
  simulation.send('POST', '/simulator/scenarios/demo');
  const ids = simulation.statuses().map(([id]) => id);
  assert.equal(ids.length, 2);
  assert.ok(ids.includes(mine) && first !== undefined && !ids.includes(first));
});

test('DELETE removes events, scenario and faults, and keeps clock and journal', () => {
  const simulation = new Simulation();
  simulation.schedule();
  simulation.send('POST', '/simulator/scenarios/demo');
  simulation.send('PUT', '/simulator/faults', { body: { status: 500, times: 9 } });
  simulation.send('PUT', '/simulator/clock', { body: { speed: 7, advance: '1h' } });
  simulation.get(EVENTS);
  const clock = textOf(simulation.send('GET', '/simulator/clock'));
  simulation.schedule();
  const { incarnation } = simulation.simulator.group.events.view;
  assert.equal(simulation.send('DELETE', '/simulator').status, 204);
  assert.equal(textOf(simulation.send('GET', '/simulator/clock')), clock);
  assert.deepEqual(simulation.document(), { DocumentIncarnation: incarnation + 1, Events: [] });
  assert.equal(jsonOf<{ running: boolean }[]>(simulation.send('GET', '/simulator/scenarios'))[0]?.running, false);
  assert.equal(jsonOf<unknown[]>(simulation.send('GET', '/simulator/requests')).length, 2);
});
