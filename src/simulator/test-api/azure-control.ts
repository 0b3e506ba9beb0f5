// A test's orders and queries → in-process control requests, and waiting for clients.
import { BridgeError } from '../../errors.ts';
import { type Deps, deadline } from '../../time/clock.ts';
import type { GroupState, ListedEvent } from '../control/group-state.ts';
import type { WireEvent } from '../events/event.ts';
import type { JournalledRequest } from '../journal.ts';
import type { SimulatorServer } from '../server.ts';
import { findScenario } from '../shipped-scenarios.ts';
import { Simulator } from '../simulator.ts';
import type { EventOrder, FaultOrder, MachineUrl, SimulatedAzure, UntilOptions } from './simulated-azure.ts';

const UNTIL_MS = 10_000;
/** How often `until` looks again: the clock and orders by HTTP change the state without notice. */
const CHECK_EVERY_MS = 20;

/** SimulatedAzure on a listening server. Orders go through the control routes, so both have the same rules. */
export class AzureControl implements SimulatedAzure {
  readonly url: string;
  readonly urls: readonly MachineUrl[];
  readonly #server: SimulatorServer;
  readonly #control: Simulator;
  readonly #deps: Pick<Deps, 'after'>;
  /** Functions that end the pause of an `until`. */
  readonly #waiters = new Set<() => void>();
  readonly #closed = new AbortController();

  constructor(server: SimulatorServer, deps: Pick<Deps, 'after'>) {
    this.url = server.url;
    this.urls = server.urls;
    this.#server = server;
    this.#control = new Simulator(server.group, server.group.first);
    this.#deps = deps;
    server.group.journal.onSettled(() => this.#wake());
  }

  schedule(event: EventOrder = {}): WireEvent {
    return this.#order('POST', '/events', event) as WireEvent;
  }

  change(eventId: string, fields: EventOrder): WireEvent {
    return this.#order('PATCH', eventPath(eventId), fields) as WireEvent;
  }

  start(eventId: string): WireEvent {
    return this.#order('POST', `${eventPath(eventId)}/start`) as WireEvent;
  }

  end(eventId: string): WireEvent {
    return this.#order('POST', `${eventPath(eventId)}/end`) as WireEvent;
  }

  cancel(eventId: string): WireEvent {
    return this.#order('POST', `${eventPath(eventId)}/cancel`) as WireEvent;
  }

  async play(scenario: string): Promise<void> {
    const script = await findScenario(scenario);
    this.#refuseIfClosed();
    const { group } = this.#server;
    group.play(script);
    this.#wake();
  }

  now(): Date {
    return new Date(this.#server.group.clock.nowMs());
  }

  advance(duration: string): void {
    this.#order('PUT', '/clock', { advance: duration });
  }

  setSpeed(speed: number): void {
    this.#order('PUT', '/clock', { speed });
  }

  fault(order: FaultOrder | readonly FaultOrder[]): void {
    this.#order('PUT', '/faults', order);
  }

  clearFaults(): void {
    this.#order('PUT', '/faults', {});
  }

  events(): readonly ListedEvent[] {
    return this.state().events;
  }

  state(): GroupState {
    return this.#ask('GET', '') as GroupState;
  }

  requests(): readonly JournalledRequest[] {
    return this.#server.group.journal.requests();
  }

  approvals(): readonly string[] {
    return this.requests().flatMap(({ method, status, body }) =>
      method === 'POST' && status === 200 ? eventIdsOf(body) : [],
    );
  }

  async until<T>(look: () => T | false | null | undefined, { timeoutMs = UNTIL_MS }: UntilOptions = {}): Promise<T> {
    const limit = deadline(this.#deps, timeoutMs, () => this.#timeoutError(timeoutMs), this.#closed.signal);
    try {
      for (;;) {
        limit.signal.throwIfAborted();
        const seen = look();
        if (seen) return seen;
        await this.#pause(limit.signal);
      }
    } finally {
      limit.cancel();
    }
  }

  reset(): void {
    this.#order('DELETE', '');
    this.#server.group.journal.clear();
  }

  async close(): Promise<void> {
    if (!this.#closed.signal.aborted) this.#closed.abort(closedError());
    await this.#server[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #order(method: string, path: string, body?: object): unknown {
    this.#refuseIfClosed();
    const answer = this.#ask(method, path, body);
    this.#wake();
    return answer;
  }

  #refuseIfClosed(): void {
    if (this.#closed.signal.aborted) throw closedError();
  }

  /** @throws BridgeError BRIDGE_SIMULATOR_REFUSED */
  #ask(method: string, path: string, body?: object): unknown {
    const text = body === undefined ? '' : JSON.stringify(body);
    const answer = this.#control.handle({
      method,
      url: `/simulator${path}`,
      headers: {},
      body: new TextEncoder().encode(text),
    });
    const value: unknown = answer.body.length === 0 ? null : JSON.parse(new TextDecoder().decode(answer.body));
    if (answer.status < 400) return value;
    const { detail } = value as { detail: string };
    const message = `the simulator rejected ${method} /simulator${path} (${answer.status}): ${detail}`;
    throw new BridgeError('BRIDGE_SIMULATOR_REFUSED', message, { status: answer.status, cause: value });
  }

  #wake(): void {
    for (const wake of [...this.#waiters]) wake();
  }

  /** Resolves after the next order or request, or after a short time. */
  #pause(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        signal.removeEventListener('abort', wake);
        this.#waiters.delete(wake);
        resolve();
      };
      const cancel = this.#deps.after(CHECK_EVERY_MS, wake);
      signal.addEventListener('abort', wake, { once: true });
      this.#waiters.add(wake);
    });
  }

  #timeoutError(timeoutMs: number): BridgeError {
    const events = this.events().map(({ EventId, EventType, EventStatus }) => `${EventType} ${EventId} ${EventStatus}`);
    const requests = this.requests();
    const last = requests.at(-1);
    const message =
      `timed out after ${timeoutMs} ms. Events: ${events.join(', ') || 'none'}. ` +
      `Requests: ${requests.length}${last ? `, the last ${last.method} ${last.path} (${last.status ?? last.outcome}) of ${last.vm}` : ''}.`;
    return new BridgeError('BRIDGE_SIMULATOR_TIMEOUT', message);
  }
}

function eventPath(eventId: string): string {
  return `/events/${encodeURIComponent(eventId)}`;
}

function closedError(): BridgeError {
  return new BridgeError('BRIDGE_SIMULATOR_CLOSED', 'the simulator is closed: start another one');
}

/**
 * Returns the EventIds of StartRequests, or none for any other body: a fault can answer it 200, and the journal cuts
 * long bodies.
 */
function eventIdsOf(body: string): readonly string[] {
  try {
    const { StartRequests } = JSON.parse(body) as { StartRequests: readonly { EventId: string }[] };
    return StartRequests.map(({ EventId }) => EventId);
  } catch {
    return [];
  }
}
