// Faults that a test orders → what befalls the next token, attach, transfer or settlement.
import { type BrokerClock, milliseconds } from './broker-clock.ts';
import type { AmqpFault } from './rhea-link.ts';
import type { ConditionName } from './service-faults.ts';

/** A condition by its name, with the service's own text, or with a text of the test's. */
export type Refusal = ConditionName | AmqpFault;

/**
 * What happens to a transfer. `stored` says whether the messages are kept although the sender hears nothing good;
 * default false.
 */
export type SendFault =
  | { readonly do: 'reject'; readonly with: Refusal }
  | { readonly do: 'release' }
  | { readonly do: 'modify' }
  /** No disposition. */
  | { readonly do: 'ignore'; readonly stored?: boolean }
  | { readonly do: 'detach'; readonly with?: Refusal; readonly stored?: boolean }
  /** The connection's socket is destroyed. */
  | { readonly do: 'drop'; readonly stored?: boolean };

export type SettleFault =
  | { readonly do: 'reject'; readonly with: Refusal }
  | { readonly do: 'ignore' | 'drop'; readonly settled?: boolean }
  | { readonly do: 'detach'; readonly with?: Refusal; readonly settled?: boolean };

export type AttachFault = { readonly do: 'ignore' | 'drop' } | { readonly do: 'refuse'; readonly with: Refusal };

/** `answer` is a status such as 401 or 404, with the text beside it. */
export type TokenFault =
  | { readonly do: 'ignore' | 'drop' }
  | { readonly do: 'answer'; readonly status: number; readonly description?: string };

export type ManagementFault =
  | { readonly do: 'ignore' | 'drop' }
  | { readonly do: 'answer'; readonly status: number; readonly condition?: string; readonly description?: string };

export interface Scope {
  /** How many of them; default 1, `Infinity` for ever. */
  readonly times?: number;
  /** Only those at this entity, without case; all entities by default. */
  readonly entity?: string;
}

interface Ordered<Fault> {
  readonly fault: Fault;
  readonly entity: string | undefined;
  left: number;
  readonly until: number;
}

class FaultQueue<Fault> {
  readonly #ordered: Ordered<Fault>[] = [];

  add(fault: Fault, { times = 1, entity }: Scope, until = Number.POSITIVE_INFINITY): void {
    this.#ordered.push({ fault, entity: entity?.toLowerCase(), left: times, until });
  }

  /** The oldest that applies, used up by one. */
  next(entity: string, now: number): Fault | null {
    const applies = (ordered: Ordered<Fault>) =>
      ordered.left > 0 &&
      ordered.until > now &&
      (ordered.entity === undefined || ordered.entity === entity.toLowerCase());
    const found = this.#ordered.find(applies);
    if (!found) return null;
    found.left -= 1;
    return found.fault;
  }

  clear(): void {
    this.#ordered.length = 0;
  }
}

export class FaultScript {
  /** While true, senders get no credit; what is granted already stays. */
  withholdCredit = false;
  readonly #clock: BrokerClock;
  readonly #sends = new FaultQueue<SendFault>();
  readonly #settles = new FaultQueue<SettleFault>();
  readonly #attaches = new FaultQueue<AttachFault>();
  readonly #tokens = new FaultQueue<TokenFault>();
  readonly #requests = new FaultQueue<ManagementFault>();

  constructor(clock: BrokerClock) {
    this.#clock = clock;
  }

  onSend(fault: SendFault, scope: Scope = {}): void {
    this.#sends.add(fault, scope);
  }

  /** The next `times` transfers are refused. */
  rejectSends(refusal: Refusal, scope: Scope = {}): void {
    this.#sends.add({ do: 'reject', with: refusal }, scope);
  }

  /** Every transfer is refused as server-busy until the server's clock is so much later. */
  busyFor(duration: string | number, scope: Pick<Scope, 'entity'> = {}): void {
    const until = this.#clock.now() + milliseconds(duration);
    this.#sends.add({ do: 'reject', with: 'serverBusy' }, { ...scope, times: Number.POSITIVE_INFINITY }, until);
  }

  onSettle(fault: SettleFault, scope: Scope = {}): void {
    this.#settles.add(fault, scope);
  }

  onAttach(fault: AttachFault, scope: Scope = {}): void {
    this.#attaches.add(fault, scope);
  }

  onToken(fault: TokenFault, scope: Scope = {}): void {
    this.#tokens.add(fault, scope);
  }

  onManagement(fault: ManagementFault, scope: Scope = {}): void {
    this.#requests.add(fault, scope);
  }

  /** Nothing that was ordered happens any more. */
  clear(): void {
    for (const queue of [this.#sends, this.#settles, this.#attaches, this.#tokens, this.#requests]) queue.clear();
    this.withholdCredit = false;
  }

  nextSend(entity: string): SendFault | null {
    return this.#sends.next(entity, this.#clock.now());
  }

  nextSettle(entity: string): SettleFault | null {
    return this.#settles.next(entity, this.#clock.now());
  }

  nextAttach(entity: string): AttachFault | null {
    return this.#attaches.next(entity, this.#clock.now());
  }

  nextToken(entity: string): TokenFault | null {
    return this.#tokens.next(entity, this.#clock.now());
  }

  nextRequest(entity: string): ManagementFault | null {
    return this.#requests.next(entity, this.#clock.now());
  }
}
