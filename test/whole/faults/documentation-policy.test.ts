// The example configuration on every scenario → the StartRequests of the documentation's sample.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { ADAPTERS } from '../../../adapters/index.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import type { MetadataTransport } from '../../../src/metadata/transport.ts';
import { parseYaml } from '../../../src/schema/yaml.ts';
import { machineNames } from '../../../src/simulator/events/machine.ts';
import { Group } from '../../../src/simulator/group.ts';
import type { Script } from '../../../src/simulator/script/script.ts';
import { shippedScenarios } from '../../../src/simulator/shipped-scenarios.ts';
import { Simulator } from '../../../src/simulator/simulator.ts';
import { watchAsDocumented } from '../../docs/documented-sample.ts';
import { simulatorTransport } from '../../virtual/simulator-transport.ts';
import { HOUR, SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const EXAMPLE = readFileSync(
  new URL('../../../docs/receive/examples/documentation-policy.yaml', import.meta.url),
  'utf8',
);

/** A scenario that takes longer than a day is polled less often. */
const LONG = { overMs: 24 * HOUR, pauseMs: 30 * SECOND };

/** No poll falls on the moment of a step, where who comes first would be a matter of chance. */
const BEGIN_MS = 2500;

/** A month has millions of timers: half a minute of an idle processor, and several of a busy one. */
const PATIENCE_MS = 600_000;

/** After the last thing that happens: polls by then have seen it, at the slowest rhythm. */
const LAST_LOOK_MS = 5 * 60 * SECOND;

test('the example configuration is valid, approves by the documentation policy, and has standard output as its only sink', () => {
  const read = readConfig(EXAMPLE, { adapters: ADAPTERS, env: {}, directory: '/', readFile: () => '' });
  assert.ok('options' in read, JSON.stringify(read));
  const { approvals, sinks } = read.options;
  assert.deepEqual([approvals.policy, approvals.dryRun, approvals.group.submit], ['documentation', false, 'every']);
  assert.deepEqual(approvals.approvers, {});
  assert.deepEqual(
    Object.values(sinks).map(({ type }) => type),
    ['stdout'],
  );
});

const scenarios = await shippedScenarios();

/** By scenario: how many events were listed and how many started, for the last test. */
const counts = new Map<string, readonly [number, number]>();

for (const script of scenarios) {
  test(`${script.name}: the bridge and the advanced sample start the same events`, {
    timeout: PATIENCE_MS,
  }, async (t) => {
    const pauseMs = await pauseMsOf(script);
    const bySample = await sampleStarts(script, pauseMs);
    const byBridge = await bridgeStarts(t, script, pauseMs);
    assert.deepEqual(byBridge.listed, bySample.listed, 'the same seed makes the same EventIds');
    assert.ok(bySample.listed.size > 0, 'the scenario lists events');
    assert.deepEqual([...byBridge.posted].sort(), [...bySample.posted].sort());
    counts.set(script.name, [bySample.listed.size, bySample.posted.size]);
  });
}

test('the scenarios ask for it: in some all events are started, in some none, and in some only some', () => {
  const shares = [...counts.values()].map(([listed, posted]) => Math.sign(posted) + Math.sign(posted - listed));
  assert.deepEqual([...new Set(shares)].sort(), [-1, 0, 1], JSON.stringify([...counts]));
});

/** What one client did to a group of its own. */
interface Played {
  /** EventIds that were listed. */
  readonly listed: ReadonlySet<string>;
  /** EventIds in StartRequests, by the simulator's journal. */
  readonly posted: ReadonlySet<string>;
}

async function sampleStarts(script: Script, pauseMs: number): Promise<Played> {
  const time = new VirtualTime();
  const played = new PlayedScenario(script, time);
  const stop = new AbortController();
  const watching = watchAsDocumented({ service: played.service, deps: time, pauseMs }, stop.signal);
  await played.play();
  stop.abort();
  await watching;
  return played;
}

async function bridgeStarts(t: TestContext, script: Script, pauseMs: number): Promise<Played> {
  const { approvals } = parseYaml(EXAMPLE, 'configuration').value as { approvals: object };
  const bridge = new VirtualBridge(t, { approvals, metadata: { pollInterval: `${pauseMs}ms` } });
  const played = new PlayedScenario(script, bridge.time);
  bridge.service = played.service;
  await bridge.start();
  await played.play();
  await bridge.kill();
  return played;
}

/** By how long it takes without anybody looking. */
async function pauseMsOf(script: Script): Promise<number> {
  const time = new VirtualTime();
  await new PlayedScenario(script, time).play();
  return time.elapsedMs() > LONG.overMs ? LONG.pauseMs : SECOND;
}

/**
 * A group as its scenario wants it, as its first machine's client meets it; its EventIds do not depend on what the
 * client draws at random.
 */
class PlayedScenario implements Played {
  readonly listed = new Set<string>();
  readonly posted = new Set<string>();
  readonly service: MetadataTransport;
  readonly #script: Script;
  readonly #time: VirtualTime;
  readonly #group: Group;

  constructor(script: Script, time: VirtualTime) {
    const { random } = new VirtualTime({ seed: 8 });
    this.#script = script;
    this.#time = time;
    const { wallMs, elapsedMs } = time;
    this.#group = new Group({
      deps: { wallMs, elapsedMs, random },
      vms: machineNames({}, script.group),
      gpu: script.group?.gpu ?? false,
    });
    this.#group.journal.onSettled(() => this.#journal());
    this.service = simulatorTransport(new Simulator(this.#group, this.#group.first), time);
  }

  /** To the end of the script and of its events; of one that begins again, to the end of its first round. */
  async play(): Promise<void> {
    await this.#time.advance(BEGIN_MS);
    this.#group.play(this.#script);
    const endMs = this.#time.wallMs() + (this.#script.everyMs ?? Number.POSITIVE_INFINITY);
    for (let dueMs = this.#dueMs(); dueMs !== null && dueMs < endMs; dueMs = this.#dueMs()) {
      await this.#time.advance(Math.max(1, dueMs - this.#time.wallMs()));
    }
    this.#group.player.stop();
    await this.#time.advance(LAST_LOOK_MS);
  }

  /** When something happens next; all that is listed until then has come by now. */
  #dueMs(): number | null {
    this.#group.catchUp();
    for (const { event } of this.#group.events.entries()) this.listed.add(event.EventId);
    return this.#group.nextDueMs();
  }

  #journal(): void {
    const [request] = this.#group.journal.requests(1);
    if (request?.method !== 'POST') return;
    const { StartRequests } = JSON.parse(request.body) as { StartRequests: { EventId: string }[] };
    for (const { EventId } of StartRequests) this.posted.add(EventId);
  }
}
