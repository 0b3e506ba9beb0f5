// The simulator as a transport in memory → late, broken and aborted exchanges in virtual time.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { TransportAnswer } from '../../src/metadata/transport.ts';
import { EVENTS, Simulation } from './simulation.ts';
import { simulatorTransport } from './simulator-transport.ts';

function exchange(
  simulation: Simulation,
  signal: AbortSignal = new AbortController().signal,
): Promise<TransportAnswer> {
  const request = {
    method: 'GET',
    url: `http://simulator${EVENTS}`,
    headers: { Metadata: 'true' },
    timeoutMs: 10_000,
  } as const;
  return simulatorTransport(simulation.simulator, simulation.time)(request, signal);
}

test('an answer comes through as it is', async () => {
  const { status, headers } = await exchange(new Simulation());
  assert.deepEqual([status, headers['etag']], [200, '"1"']);
});

test('a late answer comes after its delay, and not at all after the time limit', async () => {
  const simulation = new Simulation();
  simulation.send('PUT', '/simulator/faults', { body: { delay: '9s' } });
  const late = exchange(simulation);
  await simulation.time.advance(9000);
  assert.equal((await late).status, 200);
  simulation.send('PUT', '/simulator/faults', { body: { delay: '11s' } });
  const refused = assert.rejects(exchange(simulation), { code: 'BRIDGE_METADATA_TIMEOUT' });
  await simulation.time.advance(10_000);
  await refused;
  assert.equal(simulation.time.pending, 0);
});

test('a reset or cut-off answer is a broken connection, an abort passes unchanged', async () => {
  const simulation = new Simulation();
  for (const fault of [{ reset: true }, { truncate: 3 }]) {
    simulation.send('PUT', '/simulator/faults', { body: fault });
    await assert.rejects(exchange(simulation), { code: 'BRIDGE_METADATA_UNREACHABLE' });
  }
  simulation.send('PUT', '/simulator/faults', { body: { delay: '1s' } });
  const controller = new AbortController();
  const aborted = assert.rejects(exchange(simulation, controller.signal), { name: 'AbortError' });
  controller.abort();
  await aborted;
});
