// A node → its pods evicted, or the pods that are left when the time is over.
import { parseRetryAfter } from '../../src/formats/dates.ts';
import { sleep } from '../../src/time/clock.ts';
import type { AdapterDeps } from '../adapter.ts';
import { type ApiAnswer, type ApiClient, isAllowed } from './api/api-client.ts';
import { type Pod, readPods } from './api/objects.ts';
import type { KubernetesOptions } from './kubernetes-options.ts';
import { budgetOf, isNamespaceEnding, type PodLeft, waitText } from './pods-left.ts';

/** The interval of checks if pods are gone. */
const LOOK_MS = 1000;
/** The pause before a rejected eviction is retried, as in kubectl. */
const REFUSED_MS = 5000;
const LONGEST_PAUSE_MS = 60_000;
/** The maximum number of concurrent evictions. */
const AT_ONCE = 10;
const PAGE = 50;
/** More than any node runs; the list of an API server that never ends is rejected. */
const MOST_PAGES = 200;
const MOST_PODS = PAGE * MOST_PAGES;

interface DrainParts {
  readonly node: string;
  readonly api: ApiClient;
  readonly options: KubernetesOptions['drain'];
  readonly deps: AdapterDeps;
}

/** A pod that could not be evicted yet. */
interface Refusal extends Pick<PodLeft, 'budget'> {
  readonly status: number;
  readonly againAtMs: number;
}

/** The time of one run. */
export interface DrainTime {
  readonly limitMs: number;
  /** Wall time; null if it is unknown or the event has started. */
  readonly notBeforeMs: number | null;
}

/** With `gracePeriod: auto`, pods end so long before NotBefore. */
const RESERVE_MS = 5000;

/** The drain of one node. Concurrent runs, one for each event, evict a pod once and share its pauses. */
export class Drain {
  readonly #parts: DrainParts;
  readonly #runs = new Set<DrainTime>();
  /** The pods of the last check. */
  #left: readonly Pod[] = [];
  /** The uids of pods with an eviction request under way. */
  readonly #asking = new Set<string>();
  /** By the pod's uid. */
  readonly #refused = new Map<string, Refusal>();
  /**
   * By the uid of a controller with an evicted pod: until when its other pods are left alone, because it may create
   * them here again.
   */
  readonly #pauses = new Map<string, number>();

  constructor(parts: DrainParts) {
    this.#parts = parts;
  }

  /**
   * Evicts pods and waits until they are gone. Requests evictions at least once, even if no time is left.
   * @returns the pods that are still on the node
   * @throws BridgeError, or the signal's reason
   */
  async run(time: DrainTime, signal: AbortSignal): Promise<readonly PodLeft[]> {
    this.#runs.add(time);
    try {
      return this.#withRefusals(await this.#run(this.#parts.deps.elapsedMs() + time.limitMs, signal));
    } finally {
      this.#runs.delete(time);
      if (this.#runs.size === 0) this.#forget();
    }
  }

  /** Returns the pod and the disruption budget that it waits for, or null. */
  waitsFor(): string | null {
    return waitText(this.#withRefusals(this.#left));
  }

  #withRefusals(pods: readonly Pod[]): readonly PodLeft[] {
    return pods.map((pod) => {
      const { status = null, budget = null } = this.#refused.get(pod.uid) ?? {};
      return { pod, status, budget };
    });
  }

  async #run(endMs: number, signal: AbortSignal): Promise<readonly Pod[]> {
    const { deps, options } = this.#parts;
    for (;;) {
      const work = (await this.#pods(signal)).filter(isWork);
      this.#left = work;
      const leaving = work.filter((pod) => mayLeave(pod, options));
      await this.#evict(leaving, signal);
      const leftMs = endMs - deps.elapsedMs();
      // If all remaining pods may stay, waiting changes nothing.
      if (leaving.length === 0 || leftMs <= 0) return work;
      await sleep(deps, Math.min(LOOK_MS, leftMs), signal);
    }
  }

  /** Forgets the state of pods: the next event may come months later. */
  #forget(): void {
    this.#left = [];
    this.#refused.clear();
    this.#pauses.clear();
  }

  async #pods(signal: AbortSignal): Promise<readonly Pod[]> {
    const { api, node, options } = this.#parts;
    const labels = options.selector === undefined ? '' : `&labelSelector=${encodeURIComponent(options.selector)}`;
    const selector = `${encodeURIComponent(`spec.nodeName=${node}`)}${labels}`;
    const found: Pod[] = [];
    for (let next = '', pages = 1; ; pages += 1) {
      const more = next === '' ? '' : `&continue=${encodeURIComponent(next)}`;
      const list = readPods(
        await api.get({ method: 'GET', path: `/api/v1/pods?fieldSelector=${selector}&limit=${PAGE}${more}` }, signal),
      );
      if (list === null) throw api.unreadable({ status: 200 });
      found.push(...list.pods);
      if (list.next === '') return found;
      if (pages === MOST_PAGES || found.length > MOST_PODS) throw api.unreadable({ status: 200 });
      next = list.next;
    }
  }

  async #evict(pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    const nowMs = this.#parts.deps.elapsedMs();
    const next = pods
      .filter((pod) => !pod.isTerminating && !this.#asking.has(pod.uid) && this.#againAtMs(pod) <= nowMs)
      .values();
    const work = async () => {
      for (const pod of next) await this.#evictOnce(pod, signal);
    };
    // If one fails, the others must not continue after the delivery has failed.
    const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  async #evictOnce(pod: Pod, signal: AbortSignal): Promise<void> {
    if (this.#asking.has(pod.uid)) return;
    this.#asking.add(pod.uid);
    try {
      await this.#evictOne(pod, signal);
    } finally {
      this.#asking.delete(pod.uid);
    }
  }

  #againAtMs({ uid, controllerUid }: Pod): number {
    return this.#refused.get(uid)?.againAtMs ?? this.#pauses.get(controllerUid) ?? 0;
  }

  /** @throws BridgeError if no eviction of any pod can succeed */
  async #evictOne(pod: Pod, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid, controllerUid } = pod;
    const { api, deps } = this.#parts;
    const gracePeriodSeconds = this.#graceSeconds(pod);
    const grace = gracePeriodSeconds === null ? {} : { gracePeriodSeconds };
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace },
      deleteOptions: { ...grace, preconditions: { uid } },
    };
    const answer = await api.ask(
      { method: 'POST', path: `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, body },
      signal,
    );
    const { status } = answer;
    // 404 and 409: the pod is gone, or another pod has its name.
    if ((status >= 200 && status <= 299) || status === 404 || status === 409) {
      if (controllerUid !== '') this.#pauses.set(controllerUid, deps.elapsedMs() + REFUSED_MS);
      return void this.#refused.delete(uid);
    }
    const fault = api.faultOf(answer);
    if (fault !== null && (status === 401 || (status === 403 && !(await this.#isOfThisPod(answer, namespace, signal)))))
      throw fault;
    const askedMs = parseRetryAfter(answer.headers['retry-after'], deps.wallMs());
    const pauseMs = Math.min(Math.max(askedMs ?? REFUSED_MS, LOOK_MS), LONGEST_PAUSE_MS);
    this.#refused.set(uid, { status, budget: budgetOf(answer.body), againAtMs: deps.elapsedMs() + pauseMs });
  }

  /** Returns the grace period of an eviction, or null for the pod's own. */
  #graceSeconds({ graceSeconds }: Pod): number | null {
    const { options, deps } = this.#parts;
    const { gracePeriod } = options;
    if (gracePeriod === undefined) return null;
    if (gracePeriod !== 'auto') return Math.ceil(gracePeriod / 1000);
    const endMs = Math.min(...[...this.#runs].map(({ notBeforeMs }) => notBeforeMs ?? Number.POSITIVE_INFINITY));
    const leftSeconds = Math.max(1, Math.floor((endMs - RESERVE_MS - deps.wallMs()) / 1000));
    return graceSeconds <= leftSeconds ? null : leftSeconds;
  }

  /** Returns whether an admission webhook or policy, not a missing right, caused a 403. */
  async #isOfThisPod(answer: ApiAnswer, namespace: string, signal: AbortSignal): Promise<boolean> {
    return (
      isNamespaceEnding(answer.body) ||
      (await isAllowed(this.#parts.api, { resource: 'pods/eviction', verb: 'create', namespace }, signal))
    );
  }
}

interface LeavingRules {
  readonly deleteEmptyDirData: boolean;
  readonly force: boolean;
}

/** Excludes pods of DaemonSets, mirrors of static pods and finished pods, which cannot move to another node. */
function isWork({ controller, isMirror, isFinished }: Pod): boolean {
  return controller !== 'DaemonSet' && !isMirror && !isFinished;
}

/** Returns whether the configuration allows the eviction of the pod. */
function mayLeave({ controller, hasEmptyDir }: Pod, { deleteEmptyDirData, force }: LeavingRules): boolean {
  return (deleteEmptyDirData || !hasEmptyDir) && (force || controller !== null);
}
