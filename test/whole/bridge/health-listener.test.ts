// A sink that cannot be reached → what /readyz tells readers, and http.health anybody.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { freePort } from '../../support/besieged.ts';
import { poll } from '../../support/poll.ts';
import { bridgeFolder, hook, startRun, urlOf } from '../../support/running-bridge.ts';

interface Ready {
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly sinks: Readonly<Record<string, { readonly state: string; readonly reason?: string | null }>>;
}

test('on http.health, readyz has the state of a sink without host and error, which http.listen shows', async (t) => {
  const simulator = await localSimulator(t);
  const health = await freePort();
  const http = { listen: '127.0.0.1:0', health: `127.0.0.1:${health}` };
  const sinks = { hooks: hook('http://127.0.0.1:1/') };
  const bridge = await startRun(t, bridgeFolder(t, simulator.url, { http, sinks }));
  simulator.schedule();
  const ask = async (url: string, headers = {}) => {
    const text = await (await fetch(`${url}/readyz`, { headers })).text();
    return { text, ...(JSON.parse(text) as Ready) };
  };
  await poll(async () => (await ask(urlOf(bridge))).sinks['hooks']?.state !== 'delivering', 'a sink in trouble');
  assert.match((await ask(urlOf(bridge))).sinks['hooks']?.reason ?? '', /127\.0\.0\.1/);
  const told = await ask(`http://127.0.0.1:${health}`);
  assert.equal(told.ready, true);
  assert.match(told.sinks['hooks']?.state ?? '', /backing off|probing/);
  assert.doesNotMatch(told.text, /127\.0\.0\.1|ECONN|BRIDGE_|"reason"/);
});
