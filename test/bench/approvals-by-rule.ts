// Events that a rule approves, one and 1,000 → how long until StartRequests, beside a bare loop.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type SimulatedAzure, startSimulator } from '../../src/simulator.ts';
import { BridgeBetween, withFlags } from './bridge-between.ts';
import { median, percentile, type Row } from './figures.ts';
import { Traffic } from './traffic.ts';
import { TWENTY_RULES } from './twenty-rules.ts';

const EVENTS = 300;
const WARM_UP = 50;
const MANY = 1000;
const ROUNDS = 5;
/** What the start leaves behind has been dealt with by then. */
const SETTLE_MS = 3000;
const LOOK_MS = 50;
const BARE = join(import.meta.dirname, 'bare-approver.ts');

/** Starts what approves the events of this simulator. */
type Approver = (surroundings: BridgeBetween, azure: SimulatedAzure, pollInterval: string) => Promise<unknown>;

const bridge: Approver = (surroundings, { url: endpoint }, pollInterval) =>
  surroundings.startBridge(pollInterval, { metadata: { endpoint, pollInterval }, approvals: { policy: TWENTY_RULES } });

const bareLoop: Approver = async (surroundings, { url }, pollInterval) => {
  surroundings.spawn(
    withFlags(
      [BARE, url, join(surroundings.folder, 'written'), String(Number.parseInt(pollInterval, 10))],
      ['ignore', 'ignore', 'pipe'],
    ),
  );
};

export async function byRule(): Promise<readonly Row[]> {
  await using own = await Contender.start(bridge, '50ms');
  await using other = await Contender.start(bareLoop, '50ms');
  for (let event = 0; event < WARM_UP + EVENTS; event++)
    for (const contender of [own, other]) await contender.step(event);
  return (['p50', 'p99'] as const).map((label) => {
    const share = Number(label.slice(1)) / 100;
    const [ownMs, otherMs] = [own, other].map(({ samples }) => percentile(samples.slice(WARM_UP), share)) as [
      number,
      number,
    ];
    const figure = `${ownMs.toFixed(2)} ms, bare loop ${otherMs.toFixed(2)} ms: ${(ownMs / otherMs).toFixed(1)} ×`;
    return { what: `event → StartRequest by a rule, ${label} of ${EVENTS}`, figure, goal: '' };
  });
}

export async function manyByRule(): Promise<readonly Row[]> {
  const own: number[] = [];
  const other: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    own.push(await untilAllPosted(bridge));
    other.push(await untilAllPosted(bareLoop));
  }
  const [ownMs, otherMs] = [median(own), median(other)];
  const figure = `${ownMs.toFixed(0)} ms, bare loop ${otherMs.toFixed(0)} ms: ${(ownMs / otherMs).toFixed(1)} ×, medians of ${ROUNDS}`;
  return [{ what: `${MANY} events in one document, by a rule → last StartRequest`, figure, goal: '' }];
}

/** Milliseconds from the answer to the poll that listed them. */
async function untilAllPosted(approver: Approver): Promise<number> {
  await using contender = await Contender.start(approver, '1s');
  await pause(SETTLE_MS);
  return await contender.approved(MANY);
}

/** A simulator, and what approves its events. */
class Contender implements AsyncDisposable {
  readonly samples: number[] = [];
  readonly #surroundings: BridgeBetween;
  readonly #azure: SimulatedAzure;
  readonly #traffic: Traffic;

  private constructor(surroundings: BridgeBetween, azure: SimulatedAzure) {
    this.#surroundings = surroundings;
    this.#azure = azure;
    this.#traffic = new Traffic(azure.url);
  }

  static async start(approver: Approver, pollInterval: string): Promise<Contender> {
    const contender = new Contender(await BridgeBetween.start(), await startSimulator({ speed: 1 }));
    const polled = contender.#traffic.polled();
    await approver(contender.#surroundings, contender.#azure, pollInterval);
    await polled;
    return contender;
  }

  /** One event from its beginning to its end. */
  async step(event: number): Promise<void> {
    this.samples.push(await this.approved(1));
    // Past what follows the answer, and at another place in the poll's rhythm.
    await pause(20 + (event % 7) * 5);
    for (const { EventId } of this.#azure.events()) this.#azure.end(EventId);
    await this.#traffic.polled();
    await pause(10);
  }

  /**
   * Milliseconds from the answer to the poll that lists so many new events to the arrival of the StartRequest, or to
   * the start of the last of many.
   */
  async approved(count: number): Promise<number> {
    for (let event = 0; event < count; event++) this.#azure.schedule({ EventType: 'Reboot', EventSource: 'User' });
    const polled = this.#traffic.polled();
    const arrived = this.#traffic.posted(count);
    const posted = count === 1 ? arrived : Promise.race([arrived, this.#allStarted()]);
    return (await posted) - (await polled);
  }

  /**
   * Where several stand in one request there are fewer of those. Looks seldom, as a look at a thousand events takes a
   * while.
   */
  async #allStarted(): Promise<number> {
    while (this.#azure.events().some(({ EventStatus }) => EventStatus !== 'Started')) await pause(LOOK_MS);
    return performance.now();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#surroundings[Symbol.asyncDispose]();
    this.#traffic[Symbol.dispose]();
    await this.#azure.close();
  }
}
