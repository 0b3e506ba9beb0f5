// Steps that the sink has done on a node → Events on that node.
import { messageOf } from '../../../src/errors.ts';
import type { AdapterDeps } from '../../adapter.ts';
import type { ApiClient } from '../api/api-client.ts';
import type { KubernetesNode } from '../api/objects.ts';
import type { NodeEventFacts } from '../event-facts.ts';
import type { KubernetesOptions } from '../kubernetes-options.ts';
import { NAMESPACE, type Step, stepEvents } from './node-event.ts';
import type { NodeKeeper } from './node-keeper.ts';

/** The CloudEvent whose delivery does a step. */
interface Cause {
  readonly id: string;
  readonly facts: Pick<NodeEventFacts, 'type' | 'eventId'>;
}

/** Creates Events for steps only if `prepare` has `event`: the account may lack the right otherwise. */
export class NodeEvents {
  readonly #api: ApiClient;
  readonly #options: KubernetesOptions;
  readonly #deps: AdapterDeps;

  constructor(api: ApiClient, options: KubernetesOptions, deps: AdapterDeps) {
    this.#api = api;
    this.#options = options;
    this.#deps = deps;
  }

  /** @throws BridgeError by the status table, or the signal's reason */
  async create(body: object, signal: AbortSignal): Promise<void> {
    const path = `/api/v1/namespaces/${NAMESPACE}/events`;
    const answer = await this.#api.ask({ method: 'POST', path, body }, signal);
    const fault = this.#api.faultOf(answer);
    // 409: an earlier attempt created it.
    if (fault !== null && answer.status !== 409) throw fault;
  }

  /** Reports the end of a drain. @param pods the texts of the pods that are left */
  async drained(keeper: NodeKeeper, pods: readonly string[], cause: Cause, signal: AbortSignal): Promise<void> {
    const { selector } = this.#options.drain;
    const which = selector === undefined ? '' : ` that match ${selector}`;
    const words =
      pods.length === 0 ? `all pods${which} have left the node` : `pods${which} left on the node (${pods.length}):`;
    const step = { reason: pods.length === 0 ? 'Drained' : 'PodsLeft', words, items: pods } as const;
    await this.#report(() => keeper.read(signal), step, cause, signal);
  }

  async restored(node: KubernetesNode, cause: Cause, signal: AbortSignal): Promise<void> {
    const step = { reason: 'Restored', words: 'the event is over, and the changes to the node are undone' } as const;
    await this.#report(async () => node, { ...step, items: [] }, cause, signal);
  }

  /** Logs a failure, because the step itself is done. @throws the signal's reason */
  async #report(
    nodeOf: () => Promise<KubernetesNode>,
    { words, ...step }: Omit<Step, 'beginning'> & { readonly words: string },
    { id, facts: { type, eventId } }: Cause,
    signal: AbortSignal,
  ): Promise<void> {
    if (!this.#options.prepare.includes('event')) return;
    const beginning = `${type} (EventId ${eventId}): ${words}`;
    try {
      const bodies = stepEvents(await nodeOf(), { ...step, beginning }, { id, atMs: this.#deps.wallMs() });
      for (const body of bodies) await this.create(body, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      this.#deps.logger.warn(
        { eventId, reason: messageOf(error) },
        `the Event ${step.reason} could not be created on the node`,
      );
    }
  }
}
