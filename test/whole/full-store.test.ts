// A full store and a crowd at every route → a bridge with the memory that is shipped lives on.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { consoleRoutes } from '../../src/http/console-routes.ts';
import { SHIPPED_FLAGS, SHIPPED_MEMORY } from '../proof/cost/shipped.ts';
import { type Besieged, besieged, pollShare } from '../support/besieged.ts';
import { memoryLimit } from '../support/memory-limit.ts';
import { DRILL, HttpFixture } from '../virtual/http-fixture.ts';
import { crowd } from './full-store/crowd.ts';
import { fillStore, HELD, names, type StoreContent } from './full-store/store-content.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const LIMIT = SHIPPED_MEMORY;
/** As the image starts it. */
const FLAGS = SHIPPED_FLAGS;
const CROWD_MS = 3000;
/** For an answer in a crowd, on a machine that others use, too. */
const PATIENCE_MS = 20_000;

interface Asked {
  readonly path: string;
  /** An answer has so many bytes, so that the crowd does ask for much. */
  readonly least: number;
}

/** What a crowd asks for, by the path of each route with GET that reads the store. */
const OF_THE_STORE: Readonly<Record<string, Asked>> = {
  '/v1/events': { path: '/v1/events', least: 128 * KIB },
  '/v1/approvals/:eventId': { path: `/v1/approvals/${HELD}?limit=200`, least: 64 * KIB },
  '/v1/stream': { path: '/v1/stream?after=0', least: 500 * KIB },
  '/v1/journal': { path: '/v1/journal?limit=1000', least: 200 * KIB },
  '/v1/sinks': { path: '/v1/sinks', least: 100 },
  '/v1/dead-letters': { path: '/v1/dead-letters?limit=1000', least: 64 * KIB },
  '/v1/drills/:id': { path: `/v1/drills/${DRILL.id}`, least: 16 * KIB },
};
/** The other routes with GET, which one crowd asks for together. */
const OTHERS = [
  '/healthz',
  '/readyz',
  '/drainz',
  '/metrics',
  '/v1/caller',
  '/v1/openapi.json',
  '/v1/asyncapi.json',
  '/',
];
/** What is read of a journal of many small rows as of one of few large ones. */
const OF_THE_JOURNAL = ['/v1/journal', '/v1/stream', '/v1/dead-letters'];

test('a crowd is sent to every route that can be read', () => {
  const routes = [...new HttpFixture().parts().routes, ...consoleRoutes(() => true, { refuseHost: () => null })];
  const paths = routes.filter(({ method }) => method === 'GET').map(({ path }) => path);
  // The files of the console are as its page.
  assert.deepEqual(
    [...new Set(paths.filter((path) => !path.startsWith('/console/')))].toSorted(),
    [...Object.keys(OF_THE_STORE), ...OTHERS].toSorted(),
  );
});

test('the limit and the flags are those that are shipped', () => {
  const shipped = (file: string) => readFileSync(join(import.meta.dirname, '../../deploy', file), 'utf8');
  assert.match(shipped('container/compose.yaml'), /mem_limit: 96m/);
  assert.match(shipped('helm/scheduled-events-bridge/values.yaml'), /memory: 96Mi/);
  for (const flag of FLAGS) assert.ok(shipped('container/layout.ts').includes(flag), flag);
});

test('883 CloudEvents of 60 machines each: no crowd takes the memory, the polls or the approvals', (t) =>
  endure(t, { events: 883, names: 60 }, [
    ...Object.values(OF_THE_STORE).map((asked) => [asked]),
    OTHERS.map((path) => ({ path, least: 1 })),
  ]));

test('1,000 CloudEvents of one machine each: a crowd that reads the journal does not either', (t) =>
  endure(
    t,
    { events: 1000, names: 1 },
    OF_THE_JOURNAL.map((path) => [OF_THE_STORE[path] as Asked]),
  ));

/** @param crowds what each of them asks for, one crowd after the other */
async function endure(t: TestContext, content: StoreContent, crowds: readonly (readonly Asked[])[]): Promise<void> {
  const limit = memoryLimit(LIMIT);
  if (limit === null) return t.skip('memory is limited by a cgroup or read from /proc, and this system has neither');
  const bridge = await besieged(t, {
    sections: {
      sinks: {
        audit: { type: 'stdout' },
        dead: { type: 'webhook', url: 'http://127.0.0.1:9/', allowInsecure: true, allowPrivate: ['127.0.0.0/8'] },
      },
      http: { console: true, drain: {} },
    },
    prepare: ({ store }) => fillStore(store, content),
    listed: Array.from({ length: content.names === 1 ? 1 : 40 }, () => ({
      EventType: 'Reboot',
      Resources: names(content.names),
    })),
    program: { launcher: limit.launcher, flags: FLAGS, stdio: ['ignore', 'ignore', 'pipe'] },
  });
  const { bridgeProcess } = bridge;
  const before = await pollShare(bridge, () => pause(CROWD_MS));
  for (const asked of crowds) {
    const paths = asked.map(({ path }) => path);
    for (const one of asked) await answersMuch(bridge, one);
    let met = { slowestMs: 0, answered: 0 };
    const during = await pollShare(bridge, async () => {
      met = await meet(bridge, paths);
    });
    const peak = limit.peak(bridgeProcess.child.pid ?? 0);
    const figures = [
      `${(peak / MIB).toFixed(0)} MiB (${limit.kind})`,
      `${met.answered} answers`,
      `approver ${met.slowestMs.toFixed(0)} ms`,
      `polls ${during.toFixed(2)} of ${before.toFixed(2)}`,
    ].join(', ');
    t.diagnostic(`${paths}: ${figures}`);
    assert.ok(!bridgeProcess.hasEnded, `${paths}: the bridge ended, ${bridgeProcess.child.signalCode}`);
    assert.ok(peak <= LIMIT, `${paths}: ${figures}`);
    assert.ok(during >= 0.5 * before, `${paths}: ${figures}`);
    assert.ok(met.answered > 0, `${paths}: ${figures}`);
  }
  assert.equal((await bridgeProcess.end('SIGTERM')).code, 0);
}

/** Else the crowd would prove nothing. */
async function answersMuch({ main }: Besieged, { path, least }: Asked): Promise<void> {
  const leave = new AbortController();
  const signal = AbortSignal.any([leave.signal, AbortSignal.timeout(PATIENCE_MS)]);
  const response = await fetch(`http://127.0.0.1:${main}${path}`, { signal });
  assert.ok([200, 503].includes(response.status), `${path}: ${response.status}`);
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes >= least) break;
  }
  leave.abort();
  assert.ok(bytes >= least, `${path}: ${bytes} bytes`);
}

/** An approver in a crowd: its longest wait, and how many of the crowd were answered. */
async function meet(bridge: Besieged, paths: readonly string[]): Promise<{ slowestMs: number; answered: number }> {
  const { answered, leave } = crowd(bridge.main, paths);
  const untilMs = performance.now() + CROWD_MS;
  let slowestMs = 0;
  try {
    while (performance.now() < untilMs) {
      const sinceMs = performance.now();
      assert.equal(await bridge.approve(AbortSignal.timeout(PATIENCE_MS)), 404, `${paths}: an approver is answered`);
      slowestMs = Math.max(slowestMs, performance.now() - sinceMs);
      await pause(100);
    }
  } finally {
    leave();
  }
  return { slowestMs, answered: answered() };
}
