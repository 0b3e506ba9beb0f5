// Fault orders and requests → the faults of the next answers of the metadata routes.
import { pathAndQuery, type SimAnswer } from '../answer.ts';

/**
 * An order of `PUT /simulator/faults`. In a list, an order that changes no answer leaves that many answers unchanged.
 */
export interface OrderedFault {
  /** Replaces the status; 200 if only a body is given. */
  readonly status?: number;
  /** Replaces the body; empty if only a status is given. */
  readonly body?: string;
  /** Added to the answer's headers, or replacing them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** In real time. */
  readonly delayMs?: number;
  readonly reset?: boolean;
  readonly truncate?: number;
  /** Answers the document before the last change, with its incarnation. */
  readonly stale?: boolean;
  /** The number of answers. Default: 1, or no limit if `forMs` is given. */
  readonly times?: number;
  /** In simulated time; ends the order even if `times` is not used up. */
  readonly forMs?: number;
  /** Only answers of this machine. */
  readonly vm?: string;
  /** Only answers to this method, in upper case. */
  readonly method?: string;
  /** Only answers at this path and below it; in lower case, without a trailing slash. */
  readonly path?: string;
  /** Only answers to requests of one of these api-versions. */
  readonly apiVersion?: readonly string[];
}

/** The properties of a request that an order can select. */
interface FaultedRequest {
  readonly vm: string;
  readonly method: string;
  /** As in the request line. */
  readonly url: string;
}

/** The orders of a list apply one after another; the time of each begins when its turn comes. */
export class Faults {
  /** The first one is active. */
  #orders: readonly OrderedFault[] = [];
  #left = 0;
  #untilMs = Number.POSITIVE_INFINITY;

  /** Replaces all orders; an empty list clears them. @param nowMs simulated */
  order(orders: readonly OrderedFault[], nowMs: number): void {
    const [first] = orders;
    this.#orders = orders;
    this.#left = first?.times ?? (first?.forMs === undefined ? 1 : Number.POSITIVE_INFINITY);
    this.#untilMs = first?.forMs === undefined ? Number.POSITIVE_INFINITY : nowMs + first.forMs;
  }

  /**
   * Returns the active order with the number of answers it has left (null if not counted) and the orders after it; null
   * if none is active.
   */
  active(
    nowMs: number,
  ): (OrderedFault & { readonly left: number | null; readonly then: readonly OrderedFault[] }) | null {
    const order = this.#activeOrder(nowMs);
    return order && { ...order, left: Number.isFinite(this.#left) ? this.#left : null, then: this.#orders.slice(1) };
  }

  /** Uses up one answer of the active order. Returns null if the request gets its usual answer. */
  take(request: FaultedRequest, nowMs: number): OrderedFault | null {
    const order = this.#activeOrder(nowMs);
    if (!order || !matchesRequest(order, request)) return null;
    this.#left--;
    if (this.#left === 0) this.order(this.#orders.slice(1), nowMs);
    return changesAnswer(order) ? order : null;
  }

  #activeOrder(nowMs: number): OrderedFault | null {
    while (this.#orders.length > 0 && nowMs >= this.#untilMs) this.order(this.#orders.slice(1), this.#untilMs);
    return this.#orders[0] ?? null;
  }
}

/** Whether an order changes answers; otherwise it only counts them. */
export function changesAnswer({ status, body, headers, delayMs, reset, truncate, stale }: OrderedFault): boolean {
  return (
    [status, body, headers, delayMs, truncate].some((given) => given !== undefined) || reset === true || stale === true
  );
}

function matchesRequest({ vm, method, path, apiVersion }: OrderedFault, request: FaultedRequest): boolean {
  if (vm !== undefined && vm.toLowerCase() !== request.vm.toLowerCase()) return false;
  if (method !== undefined && method !== request.method) return false;
  const [requested, query] = pathAndQuery(request.url);
  if (path !== undefined && !`${requested.toLowerCase()}/`.startsWith(`${path}/`)) return false;
  return apiVersion === undefined || versionsOf(query).some((version) => apiVersion.includes(version));
}

/** Compares the parameter's name ignoring case, as the service does. */
function versionsOf(query: string): readonly string[] {
  return [...new URLSearchParams(query)].flatMap(([name, value]) =>
    name.toLowerCase() === 'api-version' ? [value] : [],
  );
}

/** Returns the answer with the fault applied. */
export function applyFault(answer: SimAnswer, order: OrderedFault): SimAnswer {
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
