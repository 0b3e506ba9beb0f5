// kill -9 at random moments of a stream of events → the receiver has every change, once, in order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as moment } from 'node:timers/promises';
import type { SimulatedAzure } from '../../../src/simulator.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { poll } from '../../support/poll.ts';
import { start } from '../../support/program.ts';
import { bridgeFolder, hook, peek, polled, received, startRun } from '../../support/running-bridge.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const ROUNDS = 24;
/** From before a process has read its store to far into its stream of events. */
const LATEST_KILL_MS = 800;
const SEED = 20_261_121;

/**
 * Events that come, start and end, some at each poll; it touches only what the receiver has heard of, so that nothing
 * can pass unseen.
 */
class Stream {
  /** EventIds in lower case. */
  readonly scheduled: string[] = [];
  readonly started: string[] = [];
  readonly ended: string[] = [];
  readonly #simulator: SimulatedAzure;
  readonly #hasHeard: (id: string) => boolean;

  constructor(simulator: SimulatedAzure, hasHeard: (id: string) => boolean) {
    this.#simulator = simulator;
    this.#hasHeard = hasHeard;
  }

  /** One event more, one heard of starts, one that was heard to have started ends. */
  async step(): Promise<void> {
    this.scheduled.push(this.#simulator.schedule({ DurationInSeconds: 5 }).EventId.toLowerCase());
    await this.#move(this.scheduled, this.started, 'scheduled', 'start');
    await this.#move(this.started, this.ended, 'started', 'end');
  }

  async #move(from: readonly string[], to: string[], phase: string, order: 'start' | 'end'): Promise<void> {
    const next = from[to.length];
    if (next === undefined || !this.#hasHeard(`${next}:${phase}`)) return;
    this.#simulator[order](next);
    to.push(next);
  }
}

test(`kill -9 at ${ROUNDS} random moments loses nothing, changes no byte and no order, and publishes no change under two ids`, async (t) => {
  const { random } = new VirtualTime({ seed: SEED });
  const simulator = await localSimulator(t);
  await using receiver = await WebhookReceiver.start();
  receiver.default = (response) => response.writeHead(random() < 0.1 ? 503 : 204).end();
  const folder = bridgeFolder(t, simulator.url, { sinks: { hooks: hook(receiver.url) } });
  const stream = new Stream(simulator, (id) => received(receiver.requests).has(id));

  for (let round = 0; round < ROUNDS; round++) {
    const program = start(t, ['run', '--config', folder.config]);
    // Half of them count from the first poll, so a slow machine has whole lives of events, too.
    const isRunning = round % 2 === 0 ? Promise.resolve() : polled(simulator);
    const killed = isRunning.then(() => moment(random() * LATEST_KILL_MS)).then(() => program.end('SIGKILL'));
    do {
      await stream.step();
      await Promise.race([polled(simulator), killed]);
    } while (!program.hasEnded);
    await killed;
  }
  assert.ok(stream.ended.length > 0, 'the kills left time for whole lives of events');

  receiver.default = { status: 204 };
  await startRun(t, folder);
  const told = [...stream.scheduled.map((key) => `${key}:scheduled`), ...stream.started.map((key) => `${key}:started`)];
  const expected = [...told, ...stream.ended.map((key) => `${key}:ended`)];
  const missing = () => expected.filter((id) => !received(receiver.requests).has(id));
  await poll(
    () => missing().length === 0 && peek(folder, (outbox) => outbox.queue.backlog('hooks').queued) === 0,
    'the changes still missing',
    40_000,
  );

  const arrived = received(receiver.requests);
  assert.deepEqual([...arrived.keys()].sort(), expected.sort());
  for (const [id, bodies] of arrived) {
    assert.equal(new Set(bodies).size, 1, `${id} came with other bytes`);
    const { data, id: ownId } = JSON.parse(bodies[0] ?? '');
    assert.equal(ownId, id);
    assert.deepEqual(
      [data.eventId.toLowerCase(), data.eventType, data.durationInSeconds],
      [id.split(':')[0], 'Freeze', 5],
    );
  }
  assertInOrder([...arrived.keys()], stream.scheduled);
  assert.equal(
    peek(folder, (outbox) => outbox.queue.backlog('hooks').dead),
    0,
  );
});

/** @param ids in the order of their first arrival */
function assertInOrder(ids: readonly string[], keys: readonly string[]): void {
  for (const key of keys) {
    const phases = ids.filter((id) => id.startsWith(`${key}:`)).map((id) => id.slice(key.length + 1));
    assert.deepEqual(phases, ['scheduled', 'started', 'ended'].slice(0, phases.length), key);
  }
}
