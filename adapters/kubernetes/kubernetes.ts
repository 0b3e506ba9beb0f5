// The kind `kubernetes`: options → an adapter that prepares and recovers the node of this VM.
import type { Delivery } from '../../src/model/deliveries.ts';
import { reveal } from '../../src/secrets/secret.ts';
import type { Adapter, AdapterDefinition, AdapterDeps, AdapterLimits, Outcome } from '../adapter.ts';
import { ApiClient } from './api/api-client.ts';
import { Drain, type PodLeft } from './drain.ts';
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
import { NAMESPACE, nodeEvent } from './node/node-event.ts';
import { NodeKeeper } from './node/node-keeper.ts';
import { nodeNameOf } from './node/node-name.ts';

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
    this.#leftBehind = new LeftBehind({ keeperOf, deps });
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
    const keeper = new NodeKeeper(name, this.#api, this.#deps);
    const isOurs = concerns(facts, this.#node);
    // The sink has not prepared the node for an event that did not name this VM at first.
    if (!isOurs && delivery.change === 'scheduled') return ['accepted'];
    if (!isOurs || facts.phase === 'recover') return [await this.#recover(facts, keeper, signal)];
    if (delivery.endedAtMs !== null) return [SUPERSEDED];
    const both = superseded === undefined ? signal : AbortSignal.any([signal, superseded]);
    try {
      return [await this.#prepare({ delivery, facts, name, keeper }, both)];
    } catch (error) {
      if (superseded?.aborted && !signal.aborted) return [SUPERSEDED];
      throw error;
    }
  }

  async #recover({ key, eventId }: NodeEventFacts, keeper: NodeKeeper, signal: AbortSignal): Promise<Outcome> {
    if (this.#options.recover && (await keeper.recover(key, signal)))
      this.#deps.logger.info({ eventId }, 'the node is back from its scheduled event');
    return 'accepted';
  }

  async #prepare(work: Preparing, signal: AbortSignal): Promise<Outcome> {
    const { delivery, facts, keeper } = work;
    keeper.expectVm(await keeper.read(signal), facts);
    let left: readonly PodLeft[] | null = null;
    for (const step of this.#options.prepare) {
      if (step === 'drain') left = await this.#drain(work, signal);
      else await this.#take(step, work, signal);
    }
    const isYes = this.#options.approve !== undefined && delivery.change !== 'started' && left?.length === 0;
    return isYes ? { result: 'accepted', approves: true } : 'accepted';
  }

  async #take(
    step: Exclude<PreparationStep, 'drain'>,
    { delivery, facts, keeper }: Preparing,
    signal: AbortSignal,
  ): Promise<void> {
    if (step === 'event') {
      const body = nodeEvent(await keeper.read(signal), facts, delivery);
      const answer = await this.#api.ask(
        { method: 'POST', path: `/api/v1/namespaces/${NAMESPACE}/events`, body },
        signal,
      );
      const fault = this.#api.faultOf(answer);
      // 409: an earlier attempt created it.
      if (fault !== null && answer.status !== 409) throw fault;
      return;
    }
    const event = { key: facts.key, type: facts.type };
    const changeOf = this.#options.recover ? prepared : preparedForGood;
    await keeper.change((node) => changeOf(node, step, event), signal);
    if (step === 'condition') await keeper.showCondition(event, signal);
  }

  /** Drains the node. @returns the pods that are left */
  async #drain({ facts, name }: Preparing, signal: AbortSignal): Promise<readonly PodLeft[]> {
    const left = await this.#drainOf(name).run(this.#drainMs(facts), signal);
    const names = left
      .slice(0, MOST_NAMES)
      .map(({ pod, status }) => `${pod.namespace}/${pod.name}${status === null ? '' : ` (${status})`}`);
    if (left.length > 0)
      this.#deps.logger.warn(
        { node: name, count: left.length, pods: names },
        'the node is not drained: pods are left on it',
      );
    else this.#deps.logger.info({ node: name }, 'the node is drained');
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
