// 500 connections that ask and read nothing → the bridge keeps its memory, rhythm and approvers.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { besieged, pollShare, residentMb } from '../support/besieged.ts';
import { rawConnections } from '../support/raw-connection.ts';

const CONNECTIONS = 250;
const REQUESTS = 'GET /metrics HTTP/1.1\r\nHost:localhost\r\n\r\n'.repeat(1800);
const WINDOW_MS = 8000;

test('500 connections with 1,800 unread requests each, on both listeners, leave polls, memory and approvers as they are', async (t) => {
  if (!existsSync('/proc/self/status')) return t.skip('memory is read from /proc');
  const bridge = await besieged(t);
  const before = await pollShare(bridge, () => pause(WINDOW_MS));
  const memoryMb = residentMb(bridge.bridgeProcess);
  const during = await pollShare(bridge, async () => {
    const untilMs = performance.now() + WINDOW_MS;
    for (const port of [bridge.main, bridge.health]) {
      for (const connection of await rawConnections(t, CONNECTIONS, port)) connection.send(REQUESTS);
    }
    while (performance.now() < untilMs) {
      assert.equal(await bridge.approve(), 404);
      assert.equal(
        (await fetch(`http://127.0.0.1:${bridge.health}/healthz`, { headers: { connection: 'close' } })).status,
        200,
      );
      await pause(200);
    }
  });
  const grownMb = residentMb(bridge.bridgeProcess) - memoryMb;
  t.diagnostic(
    `polls ${before.toFixed(2)} before, ${during.toFixed(2)} during; memory ${memoryMb.toFixed(0)} MB and ${grownMb.toFixed(0)}`,
  );
  assert.ok(during >= 0.8 * before, `${during} of the polls, ${before} before`);
  assert.ok(grownMb < 200, `${grownMb} MB more`);
  assert.equal((await bridge.bridgeProcess.end('SIGTERM')).code, 0);
});
