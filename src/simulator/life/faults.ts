// The next so many answers of the metadata routes → answers that misbehave, as a user ordered it.
import type { SimAnswer } from '../answer.ts';

/** What `PUT /simulator/faults` ordered. */
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
}

/** Holds one order at a time. */
export class Faults {
  #order: FaultOrder | null = null;
  #left = 0;
  #untilMs = Number.POSITIVE_INFINITY;

  /** In the place of the one before; null for none. @param nowMs simulated */
  order(order: FaultOrder | null, nowMs: number): void {
    this.#order = order;
    this.#left = order?.times ?? (order?.forMs === undefined ? 1 : Number.POSITIVE_INFINITY);
    this.#untilMs = order?.forMs === undefined ? Number.POSITIVE_INFINITY : nowMs + order.forMs;
  }

  /** The order at work, and how many answers it has left, where they are counted; null where none is. */
  active(nowMs: number): (FaultOrder & { readonly left: number | null }) | null {
    if (!this.#order || this.#left === 0 || nowMs >= this.#untilMs) return null;
    return { ...this.#order, left: Number.isFinite(this.#left) ? this.#left : null };
  }

  /** Uses up one answer of the order; null where this request is to be answered as always. */
  take(vm: string, method: string, nowMs: number): FaultOrder | null {
    const order = this.active(nowMs);
    if (!order) return null;
    if (order.vm !== undefined && order.vm.toLowerCase() !== vm.toLowerCase()) return null;
    if (order.method !== undefined && order.method !== method) return null;
    this.#left--;
    return this.#order;
  }
}

/** The answer as the order spoils it. */
export function misbehave(answer: SimAnswer, order: FaultOrder): SimAnswer {
  const { status, body, headers, delayMs, reset, truncate } = order;
  const spoken = status === undefined && body === undefined ? answer : replacement(status ?? 200, body ?? '');
  return {
    ...spoken,
    headers: { ...spoken.headers, ...headers },
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
