// Connections that misbehave in every manner → bridge and simulator keep memory and rhythm.
// They are made up from a seed. RAW_FUZZ_SECONDS says how long (5 by default), RAW_FUZZ_SEED repeats what was said.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { besieged, pollShare, residentMb } from '../support/besieged.ts';
import { start } from '../support/program.ts';
import { fillStore } from './full-store/store-content.ts';
import { type Siege, siege } from './raw-fuzz/siege.ts';

const SECONDS = Number(process.env['RAW_FUZZ_SECONDS'] ?? 5);
const SEED = Number(process.env['RAW_FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

test('for any bytes on either listener, polls continue, memory stays bounded, approvers are answered and no answer is malformed', async (t) => {
  if (!existsSync('/proc/self/status')) return t.skip('memory is read from /proc');
  t.diagnostic(`RAW_FUZZ_SEED=${SEED}`);
  const bridge = await besieged(t, { prepare: ({ store }) => fillStore(store, { events: 883, names: 60 }) });
  const before = await pollShare(bridge, () => pause(4000));
  const memoryMb = residentMb(bridge.bridgeProcess);
  let result: Siege = { connections: 0, oddities: [] };
  let approved = 0;
  const during = await pollShare(bridge, async () => {
    let isOver = false;
    const approving = (async () => {
      for (; !isOver; approved++) {
        assert.equal(await bridge.approve(), 404);
        await pause(100);
      }
    })();
    result = await siege([bridge.main, bridge.health], SEED, SECONDS * 1000);
    isOver = true;
    await approving;
  });
  const grownMb = residentMb(bridge.bridgeProcess) - memoryMb;
  t.diagnostic(
    `${result.connections} connections, ${approved} approvals; polls ${during.toFixed(2)} of ${before.toFixed(2)}; ${grownMb.toFixed(0)} MB more`,
  );
  assert.deepEqual(result.oddities, []);
  assert.ok(result.connections > 100 && approved > 0);
  assert.ok(during >= 0.5 * before, `${during} of the polls, ${before} before (RAW_FUZZ_SEED=${SEED})`);
  assert.ok(grownMb < 200, `${grownMb} MB more (RAW_FUZZ_SEED=${SEED})`);
  const { code, stderr } = await bridge.bridgeProcess.end('SIGTERM');
  assert.equal(code, 0);
  assert.doesNotMatch(stderr, /"level":"(fatal|error)"/);
});

test('for any bytes on its connections, the simulator stays alive, answers, and keeps its memory bounded', async (t) => {
  if (!existsSync('/proc/self/status')) return t.skip('memory is read from /proc');
  t.diagnostic(`RAW_FUZZ_SEED=${SEED}`);
  const simulator = start(t, ['simulate', '--listen', '127.0.0.1:0']);
  const { endpoint } = JSON.parse((await simulator.lines(1))[0] ?? '') as { endpoint: string };
  const memoryMb = residentMb(simulator);
  const { connections, oddities } = await siege([Number(new URL(endpoint).port)], SEED, SECONDS * 1000);
  const url = `${endpoint}/metadata/scheduledevents?api-version=2020-07-01`;
  assert.equal((await fetch(url, { headers: { Metadata: 'true', connection: 'close' } })).status, 200);
  const grownMb = residentMb(simulator) - memoryMb;
  t.diagnostic(`${connections} connections; ${grownMb.toFixed(0)} MB more`);
  assert.deepEqual(oddities, []);
  assert.ok(grownMb < 400, `${grownMb} MB more (RAW_FUZZ_SEED=${SEED})`);
  assert.equal((await simulator.end('SIGTERM')).code, 0);
});
