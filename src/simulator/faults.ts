// The next so many answers of the metadata routes → answers that misbehave, as a user ordered it.
import type { SimAnswer } from './answer.ts';

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
  /** How many answers misbehave. */
  readonly times: number;
  /** Only answers of this machine. */
  readonly vm?: string;
  /** Only answers to this method, in upper case. */
  readonly method?: string;
}

/** Holds one order at a time. */
export class Faults {
  #order: FaultOrder | null = null;
  #left = 0;

  /** In the place of the one before; null for none. */
  order(order: FaultOrder | null): void {
    this.#order = order;
    this.#left = order?.times ?? 0;
  }

  /** Uses up one answer of the order; null where this request is to be answered as always. */
  take(vm: string, method: string): FaultOrder | null {
    const order = this.#order;
    if (!order || this.#left === 0) return null;
    if (order.vm !== undefined && order.vm.toLowerCase() !== vm.toLowerCase()) return null;
    if (order.method !== undefined && order.method !== method) return null;
    this.#left--;
    return order;
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
