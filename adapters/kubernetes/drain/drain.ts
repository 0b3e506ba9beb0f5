// A node → its pods evicted and gone, or what is left of them when the time is over.
import { parseRetryAfter } from '../../../src/formats/dates.ts';
import { isObject } from '../../../src/formats/json-object.ts';
import { sleep } from '../../../src/time/clock.ts';
import type { AdapterDeps } from '../../adapter.ts';
import type { ApiAnswer, ApiClient } from '../api/api-client.ts';
import { type Pod, readPods } from '../api/objects.ts';
import { isAllowed } from '../api/rights.ts';
import type { KubernetesOptions } from '../kubernetes-options.ts';
import { isWork, mayLeave } from './leaving.ts';

/** How often is looked whether pods are gone. */
const LOOK_MS = 1000;
/** Before an eviction that was refused is asked for again, as kubectl does. */
const REFUSED_MS = 5000;
const LONGEST_PAUSE_MS = 60_000;
/** Evictions at once. */
const AT_ONCE = 10;
const PAGE = 500;

export interface DrainParts {
  readonly node: string;
  readonly api: ApiClient;
  readonly options: KubernetesOptions['drain'];
  readonly deps: AdapterDeps;
}

/** A pod that could not be evicted yet. */
interface Refusal {
  readonly status: number;
  readonly againAtMs: number;
}

/** A pod that is still there. */
export interface PodLeft {
  readonly pod: Pod;
  /** What the API server said last of its eviction; null where it was accepted or not asked for. */
  readonly status: number | null;
}

/** Of one node. Several runs at once, one for each event, evict a pod once and share the pauses that were asked for. */
export class Drain {
  readonly #parts: DrainParts;
  #runs = 0;
  /** The uids of pods whose eviction is being asked for. */
  readonly #asking = new Set<string>();
  /** By the pod's uid. */
  readonly #refused = new Map<string, Refusal>();
  /** By the uid of a controller, of whose pods one was evicted: until when others that it makes are left alone, as it may make them here again. */
  readonly #pauses = new Map<string, number>();

  constructor(parts: DrainParts) {
    this.#parts = parts;
  }

  /** Evicts at least once, however short the time is. @returns the pods that are still there @throws BridgeError, or the signal's reason */
  async run(limitMs: number, signal: AbortSignal): Promise<readonly PodLeft[]> {
    this.#runs += 1;
    try {
      const left = await this.#run(this.#parts.deps.elapsedMs() + limitMs, signal);
      return left.map((pod) => ({ pod, status: this.#refused.get(pod.uid)?.status ?? null }));
    } finally {
      this.#runs -= 1;
      if (this.#runs === 0) this.#forget();
    }
  }

  async #run(endMs: number, signal: AbortSignal): Promise<readonly Pod[]> {
    const { deps, options } = this.#parts;
    for (;;) {
      const work = (await this.#pods(signal)).filter(isWork);
      const leaving = work.filter((pod) => mayLeave(pod, options));
      await this.#evict(leaving, signal);
      const leftMs = endMs - deps.elapsedMs();
      // Where all that is left may stay, nothing changes by waiting.
      if (leaving.length === 0 || leftMs <= 0) return work;
      await sleep(deps, Math.min(LOOK_MS, leftMs), signal);
    }
  }

  /** The next event is another matter, months later perhaps. */
  #forget(): void {
    this.#refused.clear();
    this.#pauses.clear();
  }

  async #pods(signal: AbortSignal): Promise<readonly Pod[]> {
    const { api, node } = this.#parts;
    const selector = encodeURIComponent(`spec.nodeName=${node}`);
    const found: Pod[] = [];
    for (let next = ''; ; ) {
      const more = next === '' ? '' : `&continue=${encodeURIComponent(next)}`;
      const list = readPods(await api.get({ method: 'GET', path: `/api/v1/pods?fieldSelector=${selector}&limit=${PAGE}${more}` }, signal));
      if (list === null) throw api.unreadable({ status: 200 });
      found.push(...list.pods);
      if (list.next === '') return found;
      next = list.next;
    }
  }

  async #evict(pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    const nowMs = this.#parts.deps.elapsedMs();
    const next = pods.filter((pod) => !pod.isTerminating && !this.#asking.has(pod.uid) && this.#againAtMs(pod) <= nowMs).values();
    const work = async () => {
      for (const pod of next) await this.#evictOnce(pod, signal);
    };
    // One that fails does not leave the others running behind the delivery's back.
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

  /** @throws BridgeError where no eviction of any pod can go well */
  async #evictOne({ namespace, name, uid, controllerUid }: Pod, signal: AbortSignal): Promise<void> {
    const { api, options, deps } = this.#parts;
    const grace = options.gracePeriod === undefined ? {} : { gracePeriodSeconds: Math.ceil(options.gracePeriod / 1000) };
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace },
      deleteOptions: { ...grace, preconditions: { uid } },
    };
    const answer = await api.ask({ method: 'POST', path: `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, body }, signal);
    const { status } = answer;
    // 404 and 409: it is gone, or another pod has its name.
    if ((status >= 200 && status <= 299) || status === 404 || status === 409) {
      if (controllerUid !== '') this.#pauses.set(controllerUid, deps.elapsedMs() + REFUSED_MS);
      return void this.#refused.delete(uid);
    }
    const fault = api.faultOf(answer);
    if (fault !== null && (status === 401 || (status === 403 && !(await this.#isOfThisPod(answer, namespace, signal))))) throw fault;
    const askedMs = parseRetryAfter(answer.headers['retry-after'], deps.wallMs());
    const pauseMs = Math.min(Math.max(askedMs ?? REFUSED_MS, LOOK_MS), LONGEST_PAUSE_MS);
    this.#refused.set(uid, { status, againAtMs: deps.elapsedMs() + pauseMs });
  }

  /** Of a 403: no right is missing, an admission webhook or policy says no. */
  async #isOfThisPod(answer: ApiAnswer, namespace: string, signal: AbortSignal): Promise<boolean> {
    return (
      isNamespaceEnding(answer) || (await isAllowed(this.#parts.api, { resource: 'pods/eviction', verb: 'create', namespace }, signal))
    );
  }
}

/** Whoever empties the namespace ends the pod. */
function isNamespaceEnding({ body }: ApiAnswer): boolean {
  const details = body?.['details'];
  const causes = isObject(details) && Array.isArray(details['causes']) ? details['causes'].filter(isObject) : [];
  return causes.some(({ reason }) => reason === 'NamespaceTerminating');
}
