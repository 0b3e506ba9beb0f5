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
    for (let conflicts = 0; ; conflicts += 1) {
      const node = await this.read(signal);
      const change = wish(node);
      if (change === null) return;
      const request = {
        method: 'PATCH',
        path: this.#path,
        contentType: 'application/merge-patch+json',
        body: patchOf(node, change),
      } as const;
      const answer = await this.#api.ask(request, signal);
      const fault = this.#api.faultOf(answer);
      if (fault === null) return;
      if (answer.status !== 409 || conflicts === MOST_CONFLICTS) throw fault;
      await sleep(this.#deps, CONFLICT_MS, signal);
    }
  }

  /** The condition as the newest of these events has it; without one it goes. */
  async showCondition(event: PreparedEvent | undefined, signal: AbortSignal): Promise<void> {
    const body = conditionPatch(await this.read(signal), event, this.#deps.wallMs());
    if (body === null) return;
    const contentType = 'application/strategic-merge-patch+json';
    await this.#api.get({ method: 'PATCH', path: `${this.#path}/status`, contentType, body }, signal);
  }

  /** Takes back what was done for the event. Returns whether there was anything; a node that is gone has nothing left. */
  async recover(key: string, signal: AbortSignal): Promise<boolean> {
    const node = await this.find(signal);
    if (node === null || recovered(node, key) === null) return false;
    const { events, did } = recordOf(node);
    // Before the annotation that says so goes.
    if (did.includes('condition')) await this.showCondition(events.filter((event) => event.key !== key).at(-1), signal);
    await this.change((current) => recovered(current, key), signal);
    return true;
  }

  get #path(): string {
    return `/api/v1/nodes/${this.#name}`;
  }
}
