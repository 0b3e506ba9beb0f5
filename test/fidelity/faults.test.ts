// Fault orders → the faults that clients met in the field; docs/simulate/fidelity.md.
import assert from 'node:assert/strict';
import test from 'node:test';
import { simulatedGroup } from '../virtual/simulated-group.ts';
import { textOf } from '../virtual/simulation.ts';

for (const status of [404, 410, 429, 500, 503]) {
  test(`the service answers ${status} for the ordered time, then as before (F-75)`, () => {
    const { first } = simulatedGroup();
    const { EventId } = first.schedule({ notice: '10m' });
    first.order('PUT', '/faults', { status, for: '70s' }, 204);
    for (let left = 7; left > 0; left--) {
      for (const answer of [first.get(), first.get('/metadata/instance?api-version=2021-02-01')])
        assert.equal(answer.status, status);
      assert.equal(first.approve(EventId).status, status);
      first.advance('10s');
    }
    assert.deepEqual(first.statuses(), [[EventId, 'Scheduled']]);
  });
}

test('status, body and content type imitate a proxy that answers instead of the service (F-77)', () => {
  const { first } = simulatedGroup();
  const page = '<html><body>Gateway Timeout</body></html>';
  first.order('PUT', '/faults', { status: 504, body: page, headers: { 'Content-Type': 'text/html' } }, 204);
  const answer = first.get();
  assert.deepEqual([answer.status, answer.headers['content-type'], textOf(answer)], [504, 'text/html', page]);
  assert.equal(first.get().status, 200);
});

test('one order makes a node answer only empty bodies (F-19)', () => {
  const { first } = simulatedGroup();
  first.order('PUT', '/faults', { body: '', for: '1d' }, 204);
  for (let left = 3; left > 0; left--) {
    const answer = first.get();
    assert.deepEqual([answer.status, answer.body.length, answer.headers['etag']], [200, 0, undefined]);
    first.advance('1h');
  }
});

test('a stale document is the one before the last change, with its incarnation and its ETag (F-80)', () => {
  const { first } = simulatedGroup();
  const { EventId } = first.schedule();
  const before = first.document();
  first.approve(EventId);
  first.order('PUT', '/faults', { stale: true, times: 2 }, 204);
  assert.deepEqual(first.document(), before);
  assert.equal(first.get(undefined, { 'If-None-Match': '"2"' }).status, 304);
  assert.equal(first.document().DocumentIncarnation, 3);
});

test('before the first change, the stale document is the current one (F-80)', () => {
  const { first } = simulatedGroup();
  first.order('PUT', '/faults', { stale: true }, 204);
  assert.deepEqual(first.document(), { DocumentIncarnation: 1, Events: [] });
});
