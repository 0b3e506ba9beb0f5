// A plan → one bridge as real processes among real far sides, with faults at drawn moments.
import { mkdirSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { folderOf } from '../../support/folder.ts';
import { type BridgeFolder, bridgeFolder, TOKEN } from '../../support/running-bridge.ts';
import type { SmallDisk } from '../../support/small-disk.ts';
import { Chance } from '../simulation/chance.ts';
import { BridgeProcess } from './bridge-process.ts';
import { type Arrival, type FarSide, file, search, syslog, webhook } from './far-sides.ts';
import { FaultPlayer } from './fault-player.ts';
import { MetadataService } from './metadata.ts';
import { idIn, idOf, type Owed, type Played, type WorldPlan } from './played.ts';
import { type Step, storyOf } from './story.ts';
import { WaitingThreads, Waits } from './waits.ts';

/**
 * A change, or the rest of a sink, must have arrived within this time after the last fault has ended. The time in which
 * the bridge or its far sides waited for a processor does not count.
 */
const PATIENCE_MS = 60_000;
/** On a machine that never has a processor a world ends all the same. */
const MOST_PATIENCE = 10;
/** Of sinks without faults. A slow machine must not exceed it: then a bridge may send again. */
const TIMEOUT = '3m';
/** Between two looks for the next CloudEvent. */
const NEXT_MS = 5;
const SETTLE = '3s';
/** Between two looks at what waits, and at far sides that note what has arrived. */
const WATCH_MS = 20;
/** Timers are so late on an idle machine, too. */
const USUAL_MS = 5;
/** Between two looks at a far side, some of which start a program for it. */
const LOOK_MS = 100;

export class World {
  readonly t: TestContext;
  readonly root: string;
  readonly service: MetadataService;
  readonly sides: readonly FarSide[];
  folder: BridgeFolder;
  bridge: BridgeProcess;
  disk: SmallDisk | null = null;
  readonly waits = new Waits();
  readonly #owed: Owed[] = [];
  readonly #plan: WorldPlan;
  readonly #steps: readonly Step[];
  readonly #player = new FaultPlayer(this);
  #approvedMs: number | null = null;

  private constructor(
    t: TestContext,
    plan: WorldPlan,
    root: string,
    service: MetadataService,
    sides: readonly FarSide[],
  ) {
    this.t = t;
    this.#plan = plan;
    this.root = root;
    this.service = service;
    this.sides = sides;
    this.folder = this.#configure(root);
    this.bridge = new BridgeProcess(this.folder, Object.assign({}, ...sides.map(({ env }) => env ?? {})));
    this.#steps = storyOf(plan.seed, plan.name, Date.now());
  }

  /**
   * @param kafka addresses of a Kafka; null: none is played with
   * @param parent where its folder is made; the system's folder for temporary files by default
   */
  static async open(
    t: TestContext,
    plan: WorldPlan,
    kafka: readonly string[] | null = null,
    parent?: string,
  ): Promise<World> {
    const root = folderOf(t, parent);
    const service = await MetadataService.start(t);
    const sides = [
      await webhook(t, 'audit', false),
      await webhook(t, 'hurt', true),
      await webhook(t, 'away', false),
      file(root),
      await syslog(t),
      ...(plan.hasBrokers ? [await search(t), ...(await brokers(t, kafka))] : []),
    ];
    const world = new World(t, plan, root, service, sides);
    t.after(() => world.bridge.dispose());
    return world;
  }

  /** Keeps the store there; before the first process starts. */
  moveTo(disk: SmallDisk): void {
    this.disk = disk;
    this.folder = this.#configure(disk.folder);
    const { options } = this.bridge;
    this.bridge = new BridgeProcess(this.folder, Object.assign({}, ...this.sides.map(({ env }) => env ?? {})));
    this.bridge.options = options;
  }

  /** Adds what the sink `away` must have, too. */
  owe(owed: readonly Owed[]): void {
    this.#owed.push(...owed);
  }

  /** Whether `away` has something that an older release owed. */
  hasOwed(): boolean {
    return this.#owed.some(({ id }) => this.#has('away', id));
  }

  /** Plays all steps and faults, and waits until every sink has what it must have. */
  async play(): Promise<Played> {
    const { faults, seed, name } = this.#plan;
    const chances = faults.map((fault) => new Chance('processes', seed, name, fault.name));
    // Those that move the store come first.
    for (const kind of ['disk', 'machine', 'process'] as const)
      for (const [index, fault] of faults.entries())
        if (fault.kind === kind) await fault.prepare?.(this, chances[index] as Chance);
    this.service.onPoll = () => this.bridge.showsLife();
    const watch = setInterval(this.#watchTimers(), WATCH_MS);
    try {
      this.bridge.start();
      const running = faults.map((fault, index) => this.#player.play(fault, chances[index] as Chance));
      const missing = await this.#tell();
      this.#player.endSteps();
      await Promise.all(running);
      return await this.#finish(missing);
    } finally {
      clearInterval(watch);
    }
  }

  /** Takes each step when a healthy sink has the CloudEvent of the step before. */
  async #tell(): Promise<readonly string[]> {
    const chance = new Chance('processes', this.#plan.seed, this.#plan.name, 'kills');
    for (const [index, step] of this.#steps.entries()) {
      this.service.take(step, index);
      this.#player.reached(index);
      const killed = this.#plan.killsInEachStep ? this.#killLater(chance) : undefined;
      const has = () => this.#has('audit', idOf(step));
      const approving = step.isApproved ? this.#approve(step, has) : undefined;
      const hasCome = await this.#comes(has, NEXT_MS);
      await killed;
      await approving;
      if (!hasCome) return [`audit never had ${idOf(step)}`];
    }
    return [];
  }

  async #killLater(chance: Chance): Promise<void> {
    await pause(chance.between(0, 500));
    await this.bridge.kill();
  }

  /** Says yes until the bridge has taken it. */
  async #approve({ event }: Step, isOver: () => boolean): Promise<void> {
    const sinceMs = performance.now();
    const body = JSON.stringify({ StartRequests: [{ EventId: event.EventId }] });
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', connection: 'close' };
    while (this.hasPatience(sinceMs, PATIENCE_MS) && !isOver()) {
      this.#approvedMs ??= performance.now();
      try {
        const signal = AbortSignal.timeout(3000);
        const { ok } = await fetch(`${this.bridge.url}/v1/approvals`, { method: 'POST', headers, body, signal });
        if (ok) return;
      } catch {
        // No process listens now.
      }
      await pause(50);
    }
  }

  async #finish(missing: readonly string[]): Promise<Played> {
    const late = [...missing];
    if (missing.length === 0) for (const side of this.sides) late.push(...(await this.#missingAt(side)));
    if (late.length > 0) late.push(`the log: ${this.bridge.log.slice(0, 3000)}`);
    await this.#player.look();
    const code = await this.bridge.end();
    const arrivals = await Promise.all(this.sides.map(async (side) => [side.name, await side.arrivals()] as const));
    return {
      ...{
        plan: this.#plan,
        steps: this.#steps,
        faults: this.#player.played,
        service: this.service,
        bridge: this.bridge,
      },
      ...{ arrivals: new Map(arrivals), owed: this.#owed, missing: late, code },
      ...{ approvedMs: this.#approvedMs, waits: this.waits },
    };
  }

  /** Waits for the rest of a sink. Returns what never came, in words. */
  async #missingAt({ name, arrivals }: FarSide): Promise<readonly string[]> {
    const owed = name === 'away' ? this.#owed.map(({ id }) => id) : [];
    const wanted = [...owed, ...this.#steps.map(idOf)];
    let left: readonly string[] = wanted;
    const hasAll = async () => {
      const ids = new Set((await arrivals()).map(({ text }) => idIn(text)));
      left = wanted.filter((id) => !ids.has(id));
      return left.length === 0;
    };
    return (await this.#comes(hasAll, LOOK_MS)) ? [] : [`${name} never had ${left.join(', ')}`];
  }

  /** Whether this becomes true in time. */
  async #comes(isTrue: () => boolean | Promise<boolean>, lookMs: number): Promise<boolean> {
    const sinceMs = performance.now();
    while (!(await isTrue())) {
      if (!this.hasPatience(sinceMs, PATIENCE_MS)) return false;
      await pause(lookMs);
    }
    return true;
  }

  /** Whether less than this time is over, without the time in which somebody waited for a processor. */
  hasPatience(sinceMs: number, patienceMs: number): boolean {
    const nowMs = performance.now();
    const overMs = nowMs - sinceMs;
    if (overMs < patienceMs) return true;
    return overMs < MOST_PATIENCE * patienceMs && overMs - this.waits.within(sinceMs, nowMs) < patienceMs;
  }

  #has(sink: string, id: string): boolean {
    const arrivals = this.sides.find(({ name }) => name === sink)?.arrivals() as readonly Arrival[];
    return arrivals.some(({ text }) => idIn(text) === id);
  }

  #watchTimers(): () => void {
    const threads = new WaitingThreads(this.waits);
    let lastMs = performance.now();
    return () => {
      const nowMs = performance.now();
      // A timer that is late shows that this process did not get to its far sides.
      if (nowMs - lastMs > WATCH_MS + USUAL_MS) this.waits.add(nowMs, nowMs - lastMs - WATCH_MS);
      threads.look(this.bridge.pid, nowMs);
      lastMs = nowMs;
      for (const { look } of this.sides) look?.();
    };
  }

  #configure(root: string): BridgeFolder {
    mkdirSync(root, { recursive: true });
    const metadata = {
      endpoint: this.service.url,
      pollInterval: '50ms',
      timeout: '1s',
      firstTimeout: '1s',
      settle: SETTLE,
    };
    const sinks = Object.fromEntries(
      this.sides.map(({ name, settings }) => [name, { timeout: TIMEOUT, ...settings, retry: { maxAge: '365d' } }]),
    );
    const approvals = { approvers: { orders: { token: { env: 'TOKEN' } } } };
    return bridgeFolder(this.t, this.service.url, { metadata, sinks, approvals }, root);
  }
}

/** Loaded only if they are played with. */
async function brokers(t: TestContext, addresses: readonly string[] | null): Promise<readonly FarSide[]> {
  const { kafka, serviceBus } = await import('./brokers.ts');
  return [await serviceBus(t), ...(addresses === null ? [] : [await kafka(t, addresses)])];
}
