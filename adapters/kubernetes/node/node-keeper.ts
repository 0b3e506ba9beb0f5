// The name of a node → the node read, and changed without losing what others write.
import { BridgeError } from '../../../src/errors.ts';
import { sleep } from '../../../src/time/clock.ts';
import type { AdapterDeps } from '../../adapter.ts';
import type { ApiClient } from '../api/api-client.ts';
import { type Node, readNode } from '../api/objects.ts';
import type { EventFacts } from '../event-facts.ts';
import { conditionPatch } from './condition.ts';
import { type NodeChange, patchOf, recordOf, recovered } from './node-change.ts';
import { vmOfProviderId } from './node-name.ts';
import type { PreparedEvent } from './record.ts';

/** Others write a node every few seconds. */
const MOST_CONFLICTS = 10;
const CONFLICT_MS = 100;

interface NodeWrite {
  readonly request: Parameters<ApiClient['ask']>[0];
  /** Nothing is to be written after it. */
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

  /** @throws BridgeError misconfigured where there is none */
  async read(signal: AbortSignal): Promise<Node> {
    const node = readNode(await this.#api.get({ method: 'GET', path: this.#path }, signal));
    if (node === null) throw this.#api.unreadable({ status: 200 });
    return node;
  }

  /** Null where there is none. */
  async find(signal: AbortSignal): Promise<Node | null> {
    const answer = await this.#api.ask({ method: 'GET', path: this.#path }, signal);
    return answer.status === 404 ? null : await this.read(signal);
  }

  /** @throws BridgeError misconfigured where the cloud provider says that the node is another VM */
  expectVm({ providerId }: Node, { vm }: Pick<EventFacts, 'vm'>): void {
    const own = vmOfProviderId(providerId);
    if (vm === null || own === null || own === vm.toLowerCase()) return;
    const message = `sink ${this.#deps.name}: the node ${this.#name} is the VM ${own} by its providerID, and the bridge runs for ${vm}: correct node`;
    throw new BridgeError('BRIDGE_KUBERNETES_MISCONFIGURED', message, { disposition: 'misconfigured', scope: 'sink' });
  }

  /** Reads the node and writes what `wish` makes of it, again where somebody else was faster. */
  async change(wish: (node: Node) => NodeChange | null, signal: AbortSignal): Promise<void> {
    await this.#write(async () => {
      const node = await this.read(signal);
      const change = wish(node);
      return change && this.#patch(node, change);
    }, signal);
  }

  /** Shows the event as the condition. */
  async showCondition(event: PreparedEvent, signal: AbortSignal): Promise<void> {
    await this.#write(async () => this.#conditionPatch(await this.read(signal), event), signal);
  }

  /**
   * Takes back what was done for the event. Returns whether there was anything; a node that is gone has nothing left. The annotation, which says
   * what was done, goes last: written for a version of the node that shows the condition of what still stands in it, or none. So neither a kill
   * nor another event that is prepared for meanwhile leaves a condition without an event, or an event without its condition.
   */
  async recover(key: string, signal: AbortSignal): Promise<boolean> {
    let isOurs = false;
    await this.#write(async () => {
      const node = await this.find(signal);
      const change = node && recovered(node, key);
      if (node === null || change === null) return null;
      isOurs = true;
      const { events, did } = recordOf(node);
      const newest = events.filter((event) => event.key !== key).at(-1);
      const condition = did.includes('condition') ? this.#conditionPatch(node, newest) : null;
      return condition === null ? this.#patch(node, change) : { ...condition, isLast: false };
    }, signal);
    return isOurs;
  }

  /** Asks for one write after another until one is the last, or there is nothing to write; each anew where somebody else was faster. */
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

  #patch(node: Node, change: NodeChange): NodeWrite {
    const contentType = 'application/merge-patch+json';
    return { request: { method: 'PATCH', path: this.#path, contentType, body: patchOf(node, change) }, isLast: true };
  }

  /** Null where it is so already. Without an event it goes. */
  #conditionPatch(node: Node, event: PreparedEvent | undefined): NodeWrite | null {
    const body = conditionPatch(node, event, this.#deps.wallMs());
    if (body === null) return null;
    const contentType = 'application/strategic-merge-patch+json';
    return { request: { method: 'PATCH', path: `${this.#path}/status`, contentType, body }, isLast: true };
  }

  get #path(): string {
    return `/api/v1/nodes/${this.#name}`;
  }
}
