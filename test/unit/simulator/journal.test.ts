// Requests to the metadata routes → the journal, as a test reads it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { type JournalledRequest, RequestJournal } from '../../../src/simulator/journal.ts';
import { EVENTS, jsonOf, Simulation } from '../../virtual/simulation.ts';

const requestsOf = (simulation: Simulation) =>
  jsonOf<JournalledRequest[]>(simulation.send('GET', '/simulator/requests'));

test('each request to a metadata route is journalled with its answer', async () => {
  const startMs = Date.UTC(2026, 5, 1);
  const simulation = new Simulation({ startMs, speed: 10 });
  simulation.get(EVENTS, { 'User-Agent': 'test' });
  await simulation.time.advance(100);
  simulation.send('POST', EVENTS, { body: '{"StartRequests":[]} ä' });
  simulation.send('GET', '/simulator/clock');
  simulation.get('/nothing');
  assert.deepEqual(requestsOf(simulation), [
    {
      at: '2026-06-01T00:00:00.000Z',
      vm: 'sim_0',
      method: 'GET',
      path: EVENTS,
      headers: { metadata: 'true', 'user-agent': 'test' },
      body: '',
      status: 200,
      outcome: 'answered',
    },
    {
      at: '2026-06-01T00:00:01.000Z',
      vm: 'sim_0',
      method: 'POST',
      path: EVENTS,
      headers: {},
      body: '{"StartRequests":[]} ä',
      status: 400,
      outcome: 'answered',
    },
  ]);
});

test('the status is that of the faulted answer, and null if there was no answer', () => {
  const simulation = new Simulation();
  simulation.send('PUT', '/simulator/faults', { body: { status: 503 } });
  simulation.get(EVENTS);
  simulation.send('PUT', '/simulator/faults', { body: { status: 503, reset: true } });
  simulation.get(EVENTS);
  assert.deepEqual(
    requestsOf(simulation).map((request) => request.status),
    [503, null],
  );
});

test('an outcome belongs to its request, and is ignored if the journal no longer has that request', () => {
  const journal = new RequestJournal();
  const request = { vm: '', method: 'GET', path: '/', headers: {}, body: '', status: 200 };
  const outcomes = () => journal.requests().map(({ status, outcome }) => [status, outcome]);
  const [first, second] = [journal.add(request, 'waiting', 0), journal.add(request, 'waiting', 0)];
  journal.settle(second, 'answered');
  assert.deepEqual(outcomes(), [
    [null, 'waiting'],
    [200, 'answered'],
  ]);
  journal.clear();
  journal.add(request, 'truncated', 0);
  journal.settle(first, 'gave-up');
  assert.deepEqual(outcomes(), [[null, 'truncated']]);
  for (let left = 10_000; left > 0; left--) journal.add(request, 'waiting', 0);
  journal.settle(second, 'gave-up');
  assert.ok(journal.requests().every(({ outcome }) => outcome === 'waiting'));
});

test('the journal keeps the last 10,000 requests, and the first 16,384 characters of each body', () => {
  const journal = new RequestJournal();
  const request = { vm: '', method: 'GET', headers: {}, body: 'x'.repeat(20_000), status: 200 };
  for (let number = 1; number <= 20_001; number++) journal.add({ ...request, path: `/${number}` }, 'answered', 0);
  const kept = journal.requests();
  assert.deepEqual(
    [kept.length, kept[0]?.path, kept.at(-1)?.path, kept[0]?.body.length],
    [10_000, '/10002', '/20001', 16_384],
  );
});

test('?last=N gives the last N requests, oldest first', () => {
  const simulation = new Simulation();
  for (const number of [1, 2, 3]) simulation.get(`/metadata/${number}`);
  const last = (query: string) =>
    jsonOf<JournalledRequest[]>(simulation.send('GET', `/simulator/requests?${query}`)).map(({ path }) =>
      path.slice(-1),
    );
  assert.deepEqual(last('last=2'), ['2', '3']);
  for (const query of ['', 'last=3', 'last=999999', 'first=1']) assert.deepEqual(last(query), ['1', '2', '3'], query);
  assert.deepEqual(last('last=0'), []);
});

for (const last of ['', '-1', '1.5', 'all', '1000000']) {
  test(`?last=${last} is refused with 400 and its path`, () => {
    const answer = new Simulation().send('GET', `/simulator/requests?last=${last}`);
    assert.equal(answer.status, 400);
    assert.deepEqual(
      jsonOf<{ faults: { path: string }[] }>(answer).faults.map(({ path }) => path),
      ['last'],
    );
  });
}
