// The name of a node → the node, read and changed without overwriting changes of others.
import { BridgeError } from '../../../src/errors.ts';
import { sleep } from '../../../src/time/clock.ts';
import type { AdapterDeps } from '../../adapter.ts';
import type { ApiClient } from '../api/api-client.ts';
import { type KubernetesNode, readNode } from '../api/objects.ts';
import type { NodeEventFacts } from '../event-facts.ts';
import { conditionPatch, type NodeChange, patchOf, recordOf, restored } from './node-change.ts';
import { vmOfProviderId } from './node-name.ts';
import type { PreparedEvent } from './record.ts';

/** Other programs write a node every few seconds. */
const MOST_CONFLICTS = 10;
const CONFLICT_MS = 100;

interface NodeWrite {
  readonly request: Parameters<ApiClient['ask']>[0];
  /** No write follows it. */
  readonly isLast: boolean;
}

export class NodeKeeper {
  readonly #name: string;
  readonly #api: ApiClient;
  readonly #deps: AdapterDeps;

  constructor(name: string, api: ApiClient, deps: AdapterDeps) {
    this.#name = name;
    this.#api = api;
    this.#deps = deps;
  }

  /** Returns the node. @throws BridgeError misconfigured if it does not exist */
  async read(signal: AbortSignal): Promise<KubernetesNode> {
    const node = readNode(await this.#api.get({ method: 'GET', path: this.#path }, signal));
    if (node === null) throw this.#api.unreadable({ status: 200 });
    return node;
  }

  /** Returns the node, or null if it does not exist. */
  async find(signal: AbortSignal): Promise<KubernetesNode | null> {
    const answer = await this.#api.ask({ method: 'GET', path: this.#path }, signal);
    return answer.status === 404 ? null : await this.read(signal);
  }

  /** @throws BridgeError misconfigured if the node's providerID belongs to another VM */
  expectVm({ providerId }: KubernetesNode, { vm }: Pick<NodeEventFacts, 'vm'>): void {
    const own = vmOfProviderId(providerId);
    if (vm === null || own === null || own === vm.toLowerCase()) return;
    const message = `sink ${this.#deps.name}: the node ${this.#name} is the VM ${own} by its providerID, and the bridge runs for ${vm}: correct node`;
    throw new BridgeError('BRIDGE_KUBERNETES_MISCONFIGURED', message, { disposition: 'misconfigured', scope: 'sink' });
  }

  /** Reads the node and writes the change that `changeOf` returns. Retries if another program has changed the node. */
  async change(changeOf: (node: KubernetesNode) => NodeChange | null, signal: AbortSignal): Promise<void> {
    await this.#write(async () => {
      const node = await this.read(signal);
      const change = changeOf(node);
      return change && this.#patch(node, change);
    }, signal);
  }

  /** @param types null: those that the annotation names */
  async showConditions(event: PreparedEvent, types: readonly string[] | null, signal: AbortSignal): Promise<void> {
    await this.#write(async () => {
      const node = await this.read(signal);
      const claimed = types?.map((type) => ({ type, before: null })) ?? recordOf(node).conditions;
      return this.#conditionPatch(node, { claimed, event, events: [] });
    }, signal);
  }

  /**
   * Undoes the steps for the event. The annotation, which records the steps, is changed last, for a version of the node
   * whose condition already matches the remaining events. Neither a kill nor a concurrent preparation can then leave a
   * condition without an event, or an event without its condition.
   * @returns the node if it needs no preparation any more, `prepared` if another event still needs it, or null if there
   *   was nothing to undo or the node does not exist
   */
  async recover(key: string, signal: AbortSignal): Promise<KubernetesNode | 'prepared' | null> {
    let result: KubernetesNode | 'prepared' | null = null;
    await this.#write(async () => {
      const node = await this.find(signal);
      const change = node && restored(node, key);
      if (node === null || change === null) return null;
      result = change.record === null ? node : 'prepared';
      const { events, conditions: claimed } = recordOf(node);
      const event = events.filter((each) => each.key !== key).at(-1);
      const condition = this.#conditionPatch(node, { claimed, event, events });
      return condition === null ? this.#patch(node, change) : { ...condition, isLast: false };
    }, signal);
    return result;
  }

  /**
   * Sends writes until the last one, or until there is nothing to write. Retries a write if another program has changed
   * the node.
   */
  async #write(next: () => Promise<NodeWrite | null>, signal: AbortSignal): Promise<void> {
    for (let conflicts = 0; ; ) {
      const write = await next();
      if (write === null) return;
      const answer = await this.#api.ask(write.request, signal);
      const fault = this.#api.faultOf(answer);
      if (fault === null && write.isLast) return;
      if (fault === null) continue;
      if (answer.status !== 409 || conflicts === MOST_CONFLICTS) throw fault;
      conflicts += 1;
      await sleep(this.#deps, CONFLICT_MS, signal);
    }
  }

  #patch(node: KubernetesNode, change: NodeChange): NodeWrite {
    const contentType = 'application/merge-patch+json';
    return { request: { method: 'PATCH', path: this.#path, contentType, body: patchOf(node, change) }, isLast: true };
  }

  /** Returns null if the conditions are already right. */
  #conditionPatch(node: KubernetesNode, wish: Parameters<typeof conditionPatch>[1]): NodeWrite | null {
    const body = conditionPatch(node, wish, this.#deps.wallMs());
    if (body === null) return null;
    const contentType = 'application/strategic-merge-patch+json';
    return { request: { method: 'PATCH', path: `${this.#path}/status`, contentType, body }, isLast: true };
  }

  get #path(): string {
    return `/api/v1/nodes/${this.#name}`;
  }
}
