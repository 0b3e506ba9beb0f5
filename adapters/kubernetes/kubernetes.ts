// The kind `kubernetes`: options → an adapter that prepares and recovers the node of this VM.
import type { Delivery, RunningWork } from '../../src/model/deliveries.ts';
import { reveal } from '../../src/secrets/secret.ts';
import type { Adapter, AdapterDefinition, AdapterDeps, AdapterLimits, Outcome } from '../adapter.ts';
import { ApiClient } from './api/api-client.ts';
import type { KubernetesNode } from './api/objects.ts';
import { Drain } from './drain.ts';
import { concerns, eventFacts, type NodeEventFacts } from './event-facts.ts';
import { checkAccess } from './kubernetes-check.ts';
import {
  accessFiles,
  type KubernetesOptions,
  kubeconfigFaults,
  kubernetesApprover,
  kubernetesOptions,
  kubernetesSecretFaults,
  type PreparationStep,
} from './kubernetes-options.ts';
import { LeftBehind } from './node/left-behind.ts';
import { prepared, preparedForGood } from './node/node-change.ts';
import { nodeEvent } from './node/node-event.ts';
import { NodeEvents } from './node/node-events.ts';
import { NodeKeeper } from './node/node-keeper.ts';
import { nodeNameOf } from './node/node-name.ts';
import { CONDITION } from './node/record.ts';
import { type PodLeft, podText } from './pods-left.ts';

/** The maximum number of requests of a delivery, without the drain. */
const MOST_REQUESTS = 20;
const MOST_NAMES = 20;
const UNKNOWN = 'the sink does not change the node, because the name of the VM was unknown at this change: set node';
const SUPERSEDED: Outcome = { result: 'accepted', status: 'superseded' };

/** Connects at the first delivery. */
export class KubernetesAdapter implements Adapter {
  readonly limits: AdapterLimits;
  readonly #options: KubernetesOptions;
  readonly #deps: AdapterDeps;
  readonly #api: ApiClient;
  readonly #node: string | null;
  readonly #leftBehind: LeftBehind;
  /** By the name of the node. */
  readonly #drains = new Map<string, Drain>();
  readonly #events: NodeEvents;
  /** Deliveries under way, with the drain once it has begun. */
  readonly #work = new Map<Delivery, { readonly began: Omit<RunningWork, 'last'>; drain: Drain | null }>();

  /** @param options with resolved secrets */
  constructor(options: KubernetesOptions, deps: AdapterDeps) {
    const drainMs = options.prepare.includes('drain') ? options.drain.timeout : 0;
    // One drain at a time, and a second one for an event with little notice: see `NodeKeeper` and `Drain`.
    const places = { inFlight: 1, urgentInFlight: 1 };
    this.limits = {
      ...places,
      batch: 1,
      batchBytes: 64 * 1024 ** 2,
      callMs: drainMs + MOST_REQUESTS * options.timeout,
    };
    this.#options = options;
    this.#deps = deps;
    this.#api = new ApiClient(options, deps);
    this.#node = options.node === undefined ? null : reveal(options.node);
    const keeperOf = (vm: string) => new NodeKeeper(this.#node ?? nodeNameOf(vm), this.#api, deps);
    this.#events = new NodeEvents(this.#api, options, deps);
    const onRestored = (node: KubernetesNode, key: string, signal: AbortSignal) =>
      this.#events.restored(node, { id: `${key}:left-behind`, facts: { type: 'An event', eventId: key } }, signal);
    this.#leftBehind = new LeftBehind({ keeperOf, onRestored, deps });
  }

  async start(): Promise<void> {
    if (this.#options.recover) this.#leftBehind.watch();
  }

  async check(signal: AbortSignal): Promise<string | null> {
    return await checkAccess({ api: this.#api, options: this.#options, node: this.#node, deps: this.#deps }, signal);
  }

  deliver(batch: readonly Delivery[], signal: AbortSignal, superseded?: AbortSignal): Promise<readonly Outcome[]> {
    this.#leftBehind.interrupt();
    return this.#deliver(batch, signal, superseded);
  }

  running(): readonly RunningWork[] {
    return [...this.#work.values()].map(({ began, drain }) => ({ ...began, last: drain?.waitsFor() ?? null }));
  }

  async close(): Promise<void> {
    await this.#leftBehind.close();
    this.#api.close();
  }

  async #deliver(
    [delivery]: readonly Delivery[],
    signal: AbortSignal,
    superseded?: AbortSignal,
  ): Promise<readonly Outcome[]> {
    if (delivery === undefined) return [];
    const facts = eventFacts(delivery);
    const name = this.#node ?? (facts?.vm ? nodeNameOf(facts.vm) : null);
    if (facts !== null && name === null) this.#deps.logger.warn({ eventId: facts.eventId }, UNKNOWN);
    if (facts === null || name === null || (facts.isDrill && !this.#options.drills)) return ['accepted'];
    const { seq, attempts } = delivery;
    const began = { seq, eventId: facts.eventId, sinceMs: this.#deps.wallMs(), attempt: attempts + 1 };
    this.#work.set(delivery, { began, drain: null });
    try {
      return [await this.#act({ delivery, facts, name }, signal, superseded)];
    } finally {
      this.#work.delete(delivery);
    }
  }

  async #act(
    about: Omit<Preparing, 'keeper'>,
    signal: AbortSignal,
    superseded: AbortSignal | undefined,
  ): Promise<Outcome> {
    const { delivery, facts, name } = about;
    const keeper = new NodeKeeper(name, this.#api, this.#deps);
    const isOurs = concerns(facts, this.#node);
    // The sink has not prepared the node for an event that did not name this VM at first.
    if (!isOurs && delivery.change === 'scheduled') return 'accepted';
    if (!isOurs || facts.phase === 'recover') return await this.#recover(delivery, facts, keeper, signal);
    if (delivery.endedAtMs !== null) return SUPERSEDED;
    const both = superseded === undefined ? signal : AbortSignal.any([signal, superseded]);
    try {
      return await this.#prepare({ ...about, keeper }, both);
    } catch (error) {
      if (superseded?.aborted && !signal.aborted) return SUPERSEDED;
      throw error;
    }
  }

  async #recover({ id }: Delivery, facts: NodeEventFacts, keeper: NodeKeeper, signal: AbortSignal): Promise<Outcome> {
    const restored = this.#options.recover ? await keeper.recover(facts.key, signal) : null;
    if (restored !== null)
      this.#deps.logger.info({ eventId: facts.eventId }, 'the node is back from its scheduled event');
    if (restored !== null && restored !== 'prepared') await this.#events.restored(restored, { id, facts }, signal);
    return 'accepted';
  }

  async #prepare(work: Preparing, signal: AbortSignal): Promise<Outcome> {
    const { delivery, facts, keeper } = work;
    keeper.expectVm(await keeper.read(signal), facts);
    let left: readonly PodLeft[] | null = null;
    const { prepare, excludeFromLoadBalancers } = this.#options;
    if (excludeFromLoadBalancers) await this.#take('loadBalancers', work, signal);
    for (const step of prepare) {
      if (step === 'drain') left = await this.#drain(work, signal);
      else await this.#take(step, work, signal);
    }
    const isYes = this.#options.approve !== undefined && delivery.change !== 'started' && left?.length === 0;
    return isYes ? { result: 'accepted', approves: true } : 'accepted';
  }

  async #take(
    step: Exclude<PreparationStep, 'drain'> | 'loadBalancers',
    { delivery, facts, keeper }: Preparing,
    signal: AbortSignal,
  ): Promise<void> {
    if (step === 'event') {
      await this.#events.create(nodeEvent(await keeper.read(signal), facts, delivery), signal);
      return;
    }
    const event = { key: facts.key, type: facts.type };
    const { recover, conditions = [CONDITION] } = this.#options;
    await keeper.change((node) => (recover ? prepared : preparedForGood)(node, step, event, conditions), signal);
    if (step === 'condition') await keeper.showConditions(event, recover ? null : conditions, signal);
  }

  /** Drains the node. @returns the pods that are left */
  async #drain(work: Preparing, signal: AbortSignal): Promise<readonly PodLeft[]> {
    const { delivery, facts, name, keeper } = work;
    const drain = this.#drainOf(name);
    const shown = this.#work.get(delivery);
    if (shown !== undefined) shown.drain = drain;
    const left = await drain.run({ limitMs: this.#drainMs(facts), notBeforeMs: facts.notBeforeMs }, signal);
    if (shown !== undefined) shown.drain = null;
    const pods = left.map(podText);
    if (left.length > 0)
      this.#deps.logger.warn(
        { node: name, count: left.length, pods: pods.slice(0, MOST_NAMES) },
        'the node is not drained: pods are left on it',
      );
    else this.#deps.logger.info({ node: name }, 'the node is drained');
    await this.#events.drained(keeper, pods, { id: delivery.id, facts }, signal);
    return left;
  }

  /** Returns the drain of a node. Two events share it, and with it the state of the pods. */
  #drainOf(node: string): Drain {
    const drain =
      this.#drains.get(node) ?? new Drain({ node, api: this.#api, options: this.#options.drain, deps: this.#deps });
    this.#drains.set(node, drain);
    return drain;
  }

  /** Returns how long the drain may take. */
  #drainMs({ notBeforeMs }: NodeEventFacts): number {
    const { drain, beforeStart } = this.#options;
    if (beforeStart === undefined || notBeforeMs === null) return drain.timeout;
    return Math.min(drain.timeout, Math.max(0, notBeforeMs - beforeStart - this.#deps.wallMs()));
  }
}

interface Preparing {
  readonly delivery: Delivery;
  readonly facts: NodeEventFacts;
  readonly name: string;
  readonly keeper: NodeKeeper;
}

/** Applies event, condition, taint, cordon and drain before a maintenance, and undoes them after it. */
export const kubernetesSink: AdapterDefinition<KubernetesOptions> = {
  type: 'kubernetes',
  options: kubernetesOptions,
  secretFaults: kubernetesSecretFaults,
  contentFaults: kubeconfigFaults,
  decisiveFiles: accessFiles,
  approverOf: kubernetesApprover,
  cancels: ({ cancel }) => cancel,
  create: (options, deps) => new KubernetesAdapter(options, deps),
};
