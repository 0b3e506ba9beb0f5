// Fault orders → the next answers of the metadata routes misbehave.
import { pathAndQuery, type SimAnswer } from '../answer.ts';

/** What `PUT /simulator/faults` ordered. One of a list that spoils nothing lets so many answers be as they are. */
export interface FaultOrder {
  /** Instead of what the service would say; with a body alone it is 200. */
  readonly status?: number;
  /** Instead of the service's own; empty where only a status was given. */
  readonly body?: string;
  /** Besides the answer's own, or over them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Real time. */
  readonly delayMs?: number;
  readonly reset?: boolean;
  readonly truncate?: number;
  /** The document that was listed before the last change, under its incarnation. */
  readonly stale?: boolean;
  /** How many answers misbehave; where absent, one, or with `forMs` as many as are asked for. */
  readonly times?: number;
  /** Simulated time; over then, even if some of `times` are left. */
  readonly forMs?: number;
  /** Only answers of this machine. */
  readonly vm?: string;
  /** Only answers to this method, in upper case. */
  readonly method?: string;
  /** Only answers at this path and below it, in lower case and without a slash at its end. */
  readonly path?: string;
  /** Only answers to requests of one of these api-versions. */
  readonly apiVersion?: readonly string[];
}

/** What an order can choose by. */
interface FaultedRequest {
  readonly vm: string;
  readonly method: string;
  /** As on the request line. */
  readonly url: string;
}

/** The orders of a list have their turn one after the other; each one's time begins with its turn. */
export class Faults {
  /** The first is at work. */
  #orders: readonly FaultOrder[] = [];
  #left = 0;
  #untilMs = Number.POSITIVE_INFINITY;

  /** In the place of those before; an empty list clears. @param nowMs simulated */
  order(orders: readonly FaultOrder[], nowMs: number): void {
    const [first] = orders;
    this.#orders = orders;
    this.#left = first?.times ?? (first?.forMs === undefined ? 1 : Number.POSITIVE_INFINITY);
    this.#untilMs = first?.forMs === undefined ? Number.POSITIVE_INFINITY : nowMs + first.forMs;
  }

  /** The order at work, how many answers it has left, where they are counted, and those that come after it; null where none is. */
  active(nowMs: number): (FaultOrder & { readonly left: number | null; readonly then: readonly FaultOrder[] }) | null {
    const order = this.#activeOrder(nowMs);
    return order && { ...order, left: Number.isFinite(this.#left) ? this.#left : null, then: this.#orders.slice(1) };
  }

  /** Uses up one answer of the order at work; null where this request is to be answered as always. */
  take(request: FaultedRequest, nowMs: number): FaultOrder | null {
    const order = this.#activeOrder(nowMs);
    if (!order || !matchesRequest(order, request)) return null;
    this.#left--;
    if (this.#left === 0) this.order(this.#orders.slice(1), nowMs);
    return changesAnswer(order) ? order : null;
  }

  #activeOrder(nowMs: number): FaultOrder | null {
    while (this.#orders.length > 0 && nowMs >= this.#untilMs) this.order(this.#orders.slice(1), this.#untilMs);
    return this.#orders[0] ?? null;
  }
}

/** Without one of these an order only says which answers. */
export function changesAnswer({ status, body, headers, delayMs, reset, truncate, stale }: FaultOrder): boolean {
  return [status, body, headers, delayMs, truncate].some((given) => given !== undefined) || reset === true || stale === true;
}

function matchesRequest({ vm, method, path, apiVersion }: FaultOrder, request: FaultedRequest): boolean {
  if (vm !== undefined && vm.toLowerCase() !== request.vm.toLowerCase()) return false;
  if (method !== undefined && method !== request.method) return false;
  const [asked, query] = pathAndQuery(request.url);
  if (path !== undefined && !`${asked.toLowerCase()}/`.startsWith(`${path}/`)) return false;
  return apiVersion === undefined || versionsOf(query).some((version) => apiVersion.includes(version));
}

/** The parameter's name is read without case, as the service reads it. */
function versionsOf(query: string): readonly string[] {
  return [...new URLSearchParams(query)].flatMap(([name, value]) => (name.toLowerCase() === 'api-version' ? [value] : []));
}

/** The answer as the order spoils it. */
export function applyFault(answer: SimAnswer, order: FaultOrder): SimAnswer {
  const { status, body, headers, delayMs, reset, truncate } = order;
  const replaced = status === undefined && body === undefined ? answer : replacement(status ?? 200, body ?? '');
  return {
    ...replaced,
    headers: { ...replaced.headers, ...headers },
    ...(delayMs === undefined ? {} : { delayMs }),
    ...(reset === undefined ? {} : { reset }),
    ...(truncate === undefined ? {} : { truncate }),
  };
}

function replacement(status: number, body: string): SimAnswer {
  return {
    status,
    headers: body === '' ? {} : { 'content-type': 'application/json; charset=utf-8' },
    body: new TextEncoder().encode(body),
  };
}
