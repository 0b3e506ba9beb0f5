// A mix and sinks → a bridge with metadata service, receiver and callers, played poll by poll.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { folderOf } from '../../support/folder.ts';
import { TOKEN } from '../../support/running-bridge.ts';
import { Callers } from './callers.ts';
import { Maintenances } from './maintenances.ts';
import { type MetadataSide, metadataSide } from './metadata-side.ts';
import { actionsAt, type Mix } from './mix.ts';
import { Receiver } from './receiver.ts';
import { SoakedBridge, type Way } from './soaked-bridge.ts';
import { type Queue, queueOf, type StoreSize, storeSize } from './store-size.ts';

const START_MS = Date.UTC(2026, 0, 1);
/** Half of the time limit of a delivery. */
const MOST_STEP_MS = 5000;
/** A machine may be busy; a bridge without a poll for so long stands still. */
const STILL_MS = 120_000;

export interface SceneOptions {
  readonly way: Way;
  readonly mix: Mix;
  /** In all; maintenances end within them. */
  readonly polls: number;
  readonly intervalMs: number;
  readonly retain: string;
  readonly seed: number;
  readonly leakBytes?: number;
  /** @param round 0, and the next number at each reload */
  readonly sinks: (receiver: Receiver, folder: string, round: number) => object;
}

export class Scene {
  readonly folder: string;
  readonly maintenances: Maintenances;
  readonly receiver: Receiver;
  readonly #options: SceneOptions;
  #bridge: SoakedBridge | null = null;
  #callers: Callers | null = null;
  #metadata: MetadataSide | null = null;
  #round = 0;
  #polls = 0;
  #until = 1;
  #reached = Promise.withResolvers<void>();
  #released = Promise.withResolvers<void>();

  private constructor(options: SceneOptions, folder: string, receiver: Receiver) {
    this.#options = options;
    this.folder = folder;
    this.receiver = receiver;
    this.maintenances = new Maintenances({ ...options, startMs: START_MS });
  }

  /** Resolves at the first poll, which waits. */
  static async start(t: TestContext, options: SceneOptions): Promise<Scene> {
    const receiver = await Receiver.start(t);
    const scene = new Scene(options, folderOf(t), receiver);
    mkdirSync(join(scene.folder, 'program'));
    scene.#metadata = await metadataSide(t, scene.maintenances, (poll) => scene.#atPoll(poll));
    const { way, seed, leakBytes = 0, intervalMs } = options;
    const stepMs = Math.min(intervalMs, MOST_STEP_MS);
    scene.#bridge = await SoakedBridge.start(t, {
      ...{
        way,
        seed,
        stepMs,
        leakBytes,
        startMs: START_MS,
        folder: scene.folder,
        token: TOKEN,
        sections: scene.#sections(),
      },
    });
    scene.#callers = new Callers(scene.#bridge.url, TOKEN);
    await scene.#whileAlive(scene.#reached.promise);
    return scene;
  }

  get bridge(): SoakedBridge {
    if (this.#bridge === null) throw new Error('the bridge has not started');
    return this.#bridge;
  }

  get callers(): Callers {
    if (this.#callers === null) throw new Error('the bridge has not started');
    return this.#callers;
  }

  /** Polls answered or waiting so far. */
  get polls(): number {
    return this.#polls;
  }

  get store(): StoreSize {
    return storeSize(join(this.folder, 'store'));
  }

  queueOf(sink: string): Queue {
    return queueOf(join(this.folder, 'store'), sink);
  }

  /** Plays on; resolves at this poll, which waits until the next call. */
  async playTo(poll: number): Promise<void> {
    this.#until = poll;
    this.#reached = Promise.withResolvers();
    const released = this.#released;
    this.#released = Promise.withResolvers();
    released.resolve();
    await this.#whileAlive(this.#reached.promise);
  }

  /** Resolves when all approvers have their answers, and the process has ended by itself. */
  async stop(): Promise<void> {
    await this.callers.settled();
    await this.bridge.stop();
  }

  #atPoll(poll: number): Promise<void> | undefined {
    this.#polls = poll;
    const actions = actionsAt(poll, this.#options.mix);
    const isQuiet = actions.length === 0 && this.maintenances.approvedAt(poll) === null;
    if (isQuiet && poll !== this.#until) return undefined;
    return this.#hold(poll, actions).catch((error: unknown) => this.#reached.reject(error));
  }

  async #hold(poll: number, actions: ReturnType<typeof actionsAt>): Promise<void> {
    const eventId = this.maintenances.approvedAt(poll);
    // Its answer comes after a later poll.
    if (eventId !== null) await this.callers.approve(eventId);
    for (const action of actions) {
      if (action === 'reload') {
        this.#round += 1;
        this.bridge.configure(this.#sections());
      }
      await this.callers.act(action);
    }
    if (poll !== this.#until) return;
    const released = this.#released.promise;
    this.#reached.resolve();
    await released;
  }

  async #whileAlive(work: Promise<void>): Promise<void> {
    const still = Promise.withResolvers<never>();
    let seen = -1;
    const watch = setInterval(() => {
      if (seen === this.#polls) still.reject(new Error(`no poll came for 2 minutes after poll ${seen}`));
      seen = this.#polls;
    }, STILL_MS);
    try {
      await Promise.race([work, this.bridge.ended, still.promise]);
    } finally {
      clearInterval(watch);
    }
  }

  #sections(): object {
    const { intervalMs, retain, sinks } = this.#options;
    return {
      version: 1,
      metadata: { endpoint: this.#metadata?.endpoint, pollInterval: `${intervalMs}ms` },
      store: { path: 'store', retain },
      http: { listen: '127.0.0.1:0' },
      approvals: { approvers: { orders: { token: { env: 'TOKEN' }, admin: true } } },
      sinks: sinks(this.receiver, this.folder, this.#round),
    };
  }
}
