// Fault orders → the answers that they change, and how; a faulted StartRequest has no effect.
import assert from 'node:assert/strict';
import test from 'node:test';
import { EVENTS, jsonOf, Simulation, textOf } from '../../../virtual/simulation.ts';

function faulty(order: object): Simulation {
  const simulation = new Simulation();
  assert.equal(simulation.send('PUT', '/simulator/faults', { body: order }).status, 204);
  return simulation;
}

test('a fault applies to one answer by default', () => {
  const simulation = faulty({ status: 503 });
  assert.deepEqual([simulation.get(EVENTS).status, simulation.get(EVENTS).status], [503, 200]);
});

test('a fault applies to the ordered number of answers, on every metadata route (F-75)', () => {
  const simulation = faulty({ status: 410, times: 3 });
  const urls = [EVENTS, '/metadata/instance?api-version=2021-02-01', '/metadata/nothing', EVENTS];
  assert.deepEqual(
    urls.map((url) => simulation.get(url).status),
    [410, 410, 410, 200],
  );
});

test('status, body and headers replace those of the service (F-76, F-77)', () => {
  const simulation = faulty({
    status: 429,
    body: '<html>',
    headers: { 'Retry-After': 7, 'Content-Type': 'text/html' },
  });
  const answer = simulation.get(EVENTS);
  assert.deepEqual(
    [answer.status, textOf(answer), answer.headers],
    [429, '<html>', { 'content-type': 'text/html', 'retry-after': '7' }],
  );
});

test('a status alone has an empty body, a body alone has status 200, an object or a list becomes JSON (F-19, F-30, F-75)', () => {
  for (const [order, status, text] of [
    [{ status: 200 }, 200, ''],
    [{ status: 500 }, 500, ''],
    [{ body: '' }, 200, ''],
    [{ body: [1, 'x'] }, 200, '[1,"x"]'],
    [{ body: { DocumentIncarnation: 'x' } }, 200, '{"DocumentIncarnation":"x"}'],
  ] as const) {
    const answer = faulty(order).get(EVENTS);
    assert.deepEqual([answer.status, textOf(answer)], [status, text]);
  }
});

test("headers, delay, reset and truncate alone keep the answer's status and body (F-76, F-78, F-79)", () => {
  const simulation = faulty({ headers: { 'X-One': '1' }, delay: '1500ms', reset: true, truncate: 5 });
  const answer = simulation.get(EVENTS);
  assert.equal(answer.status, 200);
  assert.deepEqual(jsonOf(answer), { DocumentIncarnation: 1, Events: [] });
  assert.deepEqual([answer.headers['x-one'], answer.delayMs, answer.reset, answer.truncate], ['1', 1500, true, 5]);
});

test('a fault can be limited to a method and a machine', () => {
  const simulation = faulty({ status: 500, method: 'post', vm: 'SIM_0' });
  assert.equal(simulation.get(EVENTS).status, 200);
  assert.equal(simulation.approve().status, 500);
  assert.equal(simulation.approve().status, 200);
});

test('a fault can be limited to a path and everything below it, in any letter case', () => {
  const simulation = faulty({ status: 500, path: '/Metadata/Instance/', times: 9 });
  const spoilt = [
    '/metadata/instance',
    '/metadata/INSTANCE/compute/name?api-version=x',
    '/metadata/instance/?api-version=x',
  ];
  for (const url of spoilt) assert.equal(simulation.get(url).status, 500, url);
  for (const url of [EVENTS, '/metadata/instances', '/metadata?x=/metadata/instance'])
    assert.notEqual(simulation.get(url).status, 500, url);
});

test('a fault can be limited to api-versions', () => {
  const of = (version: string) => `/metadata/scheduledevents?Api-Version=${version}`;
  for (const apiVersion of ['2024-07-09', ['2024-07-09', '2020-07-01']]) {
    const simulation = faulty({ status: 404, apiVersion, times: 9 });
    assert.equal(simulation.get(of('2024-07-09')).status, 404);
    assert.equal(simulation.get(of('2020-07-01')).status, apiVersion.length === 2 ? 404 : 200);
    assert.equal(simulation.get(of('2019-08-01')).status, 200);
    assert.equal(simulation.get('/metadata/scheduledevents').status, 400);
  }
});

test('the orders of a list apply one after another, each when the one before is used up', () => {
  const simulation = faulty([{ status: 500 }, { delay: '5s' }, { status: 404, times: 2 }, { truncate: 20 }]);
  const told = Array.from({ length: 6 }, () => simulation.get(EVENTS)).map(({ status, delayMs, truncate }) => [
    status,
    delayMs,
    truncate,
  ]);
  assert.deepEqual(told, [
    [500, undefined, undefined],
    [200, 5000, undefined],
    [404, undefined, undefined],
    [404, undefined, undefined],
    [200, undefined, 20],
    [200, undefined, undefined],
  ]);
});

test('a request that does not match the active order gets its usual answer, and uses up nothing of the list', () => {
  const simulation = faulty([
    { status: 503, path: '/metadata/scheduledevents' },
    { status: 429, method: 'POST' },
  ]);
  const instance = '/metadata/instance?api-version=2021-02-01';
  assert.deepEqual([simulation.get(instance).status, simulation.approve().status], [200, 503]);
  assert.deepEqual(
    [simulation.get(EVENTS).status, simulation.approve().status, simulation.approve().status],
    [200, 429, 200],
  );
});

test('in a list, an order with only times or for leaves answers unchanged, and a POST among them has its effect', () => {
  const simulation = faulty([{ times: 2 }, { status: 503 }, { for: '1m' }, { status: 418 }]);
  const { EventId } = simulation.schedule();
  assert.equal(simulation.approve(EventId).status, 200);
  assert.deepEqual(simulation.statuses(), [[EventId, 'Started']]);
  assert.equal(simulation.get(EVENTS).status, 503);
  assert.equal(simulation.get(EVENTS).status, 200);
  simulation.advance('1m');
  assert.deepEqual([simulation.get(EVENTS).status, simulation.get(EVENTS).status], [418, 200]);
});

test('the time of an order in a list begins when the one before it is over', () => {
  const simulation = faulty([
    { status: 500, for: '10s' },
    { status: 404, for: '10s' },
    { status: 410, times: 1 },
    { status: 429, for: '10s' },
  ]);
  const statusAfter = (time: string) => {
    simulation.advance(time);
    return simulation.get(EVENTS).status;
  };
  assert.deepEqual([statusAfter('9s'), statusAfter('2s'), statusAfter('8s'), statusAfter('1h')], [500, 404, 404, 410]);
  assert.deepEqual([statusAfter('9s'), statusAfter('1s')], [429, 200]);
});

test('the state shows the active order of a list and the ones after it', () => {
  const simulation = faulty([
    { status: 500, times: 2 },
    { delay: '5s' },
    { apiVersion: '2024-07-09', status: 404, for: '1m' },
  ]);
  const fault = () => jsonOf<{ fault: unknown }>(simulation.send('GET', '/simulator')).fault;
  const last = { status: 404, apiVersion: ['2024-07-09'], for: '1m' };
  assert.deepEqual(fault(), { status: 500, times: 2, left: 2, then: [{ delay: '5s' }, last] });
  for (const _ of [1, 2, 3]) simulation.get(EVENTS);
  assert.deepEqual(fault(), { ...last, left: null });
});

test('a new order replaces a whole list, and an empty one clears it', () => {
  const simulation = faulty([{ status: 500 }, { status: 500 }]);
  simulation.order('PUT', '/faults', {}, 204);
  assert.equal(simulation.get(EVENTS).status, 200);
  simulation.order('PUT', '/faults', [{ status: 500 }, { status: 500 }], 204);
  simulation.order('PUT', '/faults', { status: 404 }, 204);
  assert.deepEqual([simulation.get(EVENTS).status, simulation.get(EVENTS).status], [404, 200]);
});

test('a faulted POST has no effect, even if its answer is only delayed (F-81)', () => {
  for (const order of [{ status: 503 }, { delay: '1s' }, { reset: true }, { status: 200 }]) {
    const simulation = faulty({ ...order, method: 'POST' });
    const { EventId } = simulation.schedule();
    simulation.approve(EventId);
    assert.deepEqual(simulation.statuses(), [[EventId, 'Scheduled']], JSON.stringify(order));
    simulation.approve(EventId);
    assert.deepEqual(simulation.statuses(), [[EventId, 'Started']], JSON.stringify(order));
  }
});

test('a new order replaces the one before, and an empty one clears it', () => {
  const simulation = faulty({ status: 500, times: 100 });
  simulation.send('PUT', '/simulator/faults', { body: { status: 404, times: 2 } });
  assert.equal(simulation.get(EVENTS).status, 404);
  simulation.send('PUT', '/simulator/faults', { body: {} });
  assert.equal(simulation.get(EVENTS).status, 200);
});

test('a body is sent with every given key', () => {
  const simulation = faulty({ body: JSON.parse('{"constructor":1,"Events":[{"__proto__":2}]}') as object });
  assert.equal(textOf(simulation.get(EVENTS)), '{"constructor":1,"Events":[{"__proto__":2}]}');
});

test('a body that is nested too deeply to be written is refused, and the order before stays', () => {
  const simulation = faulty({ status: 418 });
  const answer = simulation.send('PUT', '/simulator/faults', {
    body: `{"body":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
  });
  assert.equal(answer.status, 400);
  assert.deepEqual(jsonOf<{ faults: unknown }>(answer).faults, [{ path: 'body', message: 'is nested too deeply' }]);
  assert.equal(simulation.get(EVENTS).status, 418);
});

test('faults never apply to control requests', () => {
  const simulation = faulty({ status: 500 });
  assert.equal(simulation.send('GET', '/simulator/clock').status, 200);
  assert.equal(simulation.send('GET', '/nothing').status, 404);
  assert.equal(simulation.get(EVENTS).status, 500);
});

for (const [order, path] of [
  [{ status: 99 }, 'status'],
  [{ status: '500' }, 'status'],
  [{ body: 7 }, 'body'],
  [{ headers: { 'a b': 'x' } }, 'headers.a b'],
  [{ headers: { a: 'x\r\ny: z' } }, 'headers.a'],
  [{ delay: 5 }, 'delay'],
  [{ reset: 'yes' }, 'reset'],
  [{ truncate: -1 }, 'truncate'],
  [{ status: 500, times: 0 }, 'times'],
  [{ status: 500, vm: 'nobody' }, 'vm'],
  [{ sleep: '5s' }, 'sleep'],
  [{ status: 500, path: '/simulator' }, 'path'],
  [{ status: 500, path: '/metadata/instance?x' }, 'path'],
  [{ status: 500, apiVersion: [] }, 'apiVersion'],
  [{ status: 500, apiVersion: 7 }, 'apiVersion'],
  [[{ status: 500 }, { status: 99 }], '[1].status'],
  [[], ''],
  [[{ status: 500 }, {}], '[1]'],
  [[{ status: 500 }, { vm: 'sim_0' }], '[1]'],
  [[{ sleep: '5s', status: 500 }], '[0].sleep'],
  [Array.from({ length: 1001 }, () => ({ status: 500 })), ''],
  [{ times: 3 }, ''],
  [{ method: 'GET', vm: 'sim_0', for: '1m' }, ''],
  [{ reset: false, stale: false }, ''],
] as const) {
  test(`the order ${JSON.stringify(order).slice(0, 80)} is refused, and the one before stays`, () => {
    const simulation = faulty({ status: 418 });
    const answer = simulation.send('PUT', '/simulator/faults', { body: order });
    assert.equal(answer.status, 400);
    assert.deepEqual(
      jsonOf<{ faults: { path: string }[] }>(answer).faults.map((fault) => fault.path),
      [path],
    );
    assert.equal(simulation.get(EVENTS).status, 418);
  });
}
