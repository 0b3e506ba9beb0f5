// SimulatedAzure: the interface by which a test in Node controls and inspects the simulator.
/// <reference lib="esnext.disposable" preserve="true" />

import type { GroupState, ListedEvent } from '../control/group-state.ts';
import type { WireEvent } from '../events/event.ts';
import type { JournalledRequest } from '../journal.ts';

/** A machine's name and the URL of its metadata service: `http://HOST:PORT`, without a trailing slash. */
export interface MachineUrl {
  readonly vm: string;
  readonly url: string;
}

/**
 * A new event, or changes to one: any of the nine fields of a document, and four settings that the document does not
 * show. All are optional; docs/simulate/simulator.md has the defaults. Durations are texts such as `30s`, `15m`, `2h`,
 * in simulated time.
 */
export interface EventOrder {
  /** Default: a new GUID. An EventId that was used before, in any letter case, is rejected. */
  readonly EventId?: string;
  /** Any text. Default: `Freeze`. */
  readonly EventType?: string;
  readonly ResourceType?: string;
  /** Default: all machines of the group. */
  readonly Resources?: readonly string[];
  readonly EventStatus?: 'Scheduled' | 'Started';
  /** RFC 1123, ISO 8601 or a Date. Default: now plus `notice`, or plus the least notice of the type. */
  readonly NotBefore?: string | Date;
  readonly Description?: string;
  readonly EventSource?: string;
  readonly DurationInSeconds?: number;
  /** The machines that see it. Default: all. */
  readonly seen?: readonly string[];
  /** The time from now until NotBefore. */
  readonly notice?: string;
  /** The time from Started until the event is no longer listed. Default: `10m`. */
  readonly startedFor?: string;
  /**
   * How long the event stays Scheduled after its approval or its NotBefore, waiting for other tenants of the hardware.
   */
  readonly otherTenants?: string;
}

/** A fault of the next answers of the metadata routes. At least one of the first seven fields is required. */
export interface FaultOrder {
  /** 200 to 599; without `body`, the body is empty. */
  readonly status?: number;
  /** A text is sent unchanged, any other value as JSON. Without `status`, the status is 200. */
  readonly body?: string | readonly unknown[] | Readonly<Record<string, unknown>>;
  /** Added to the answer's headers, or replacing them. */
  readonly headers?: Readonly<Record<string, string | number>>;
  /** Delays the answer, in real time. */
  readonly delay?: string;
  /** Resets the connection instead of answering. */
  readonly reset?: boolean;
  /** Closes the connection after this many bytes of the body. */
  readonly truncate?: number;
  /** Answers the document before the last change. */
  readonly stale?: boolean;
  /** The number of answers. Default: 1, or no limit with `for`. */
  readonly times?: number;
  /** The simulated time for which the fault lasts. */
  readonly for?: string;
  /** Only answers of this machine. */
  readonly vm?: string;
  /** Only answers to this method. */
  readonly method?: string;
  /** Only answers at this path and below it, such as `/metadata/instance`; letter case is ignored. */
  readonly path?: string;
  /** Only answers to requests of this api-version, or of one of these. */
  readonly apiVersion?: string | readonly string[];
}

export interface UntilOptions {
  /** In real time. Default: 10 s. */
  readonly timeoutMs?: number;
}

/**
 * A simulated metadata service of Azure in this process. Orders take effect at once. They follow the rules of the
 * control routes in docs/simulate/simulator.md: each throws `BRIDGE_SIMULATOR_REFUSED` if a value is invalid (`status`
 * 400), an id or name is unknown (404) or the order is impossible now (409), and `BRIDGE_SIMULATOR_CLOSED` after
 * `close`. Methods that only read also work after `close`.
 */
export interface SimulatedAzure extends AsyncDisposable {
  /** The URL of the first machine. */
  readonly url: string;
  /** The URLs of all machines, in their order. */
  readonly urls: readonly MachineUrl[];

  /** Schedules an event. @returns the event, with defaults for the fields that are not given */
  schedule(event?: EventOrder): WireEvent;
  /** Changes the given fields; the EventId cannot change. */
  change(eventId: string, fields: EventOrder): WireEvent;
  /** Starts a Scheduled event. */
  start(eventId: string): WireEvent;
  /** Ends a Started event. @returns its last state */
  end(eventId: string): WireEvent;
  /** Cancels a Scheduled event. @returns its last state */
  cancel(eventId: string): WireEvent;

  /**
   * Plays a scenario and ends the running one. Takes the name of a shipped scenario, or the path of a YAML file.
   * @throws BridgeError BRIDGE_USAGE for an unknown name, BRIDGE_SIMULATOR_SCENARIO with all faults of a file
   */
  play(scenario: string): Promise<void>;

  /** The simulated time. */
  now(): Date;
  /** Moves the simulated clock forward, such as by `15m`. Everything that becomes due happens, in order. */
  advance(duration: string): void;
  /** Sets the simulated seconds per second; 0 stops the clock. */
  setSpeed(speed: number): void;

  /**
   * Replaces the current fault. The orders of a list apply one after another: each begins when the one before is used
   * up. In a list, an order with only `times` or `for` leaves answers unchanged.
   */
  fault(order: FaultOrder | readonly FaultOrder[]): void;
  clearFaults(): void;

  /** The current events, oldest first, with their times. */
  events(): readonly ListedEvent[];
  /**
   * The whole state, as `GET /simulator` answers it: clock, service, machines, scenario, fault, current and past
   * events.
   */
  state(): GroupState;
  /** The last 10,000 requests to the metadata routes, oldest first. */
  requests(): readonly JournalledRequest[];
  /**
   * The EventIds of all StartRequests that were answered 200, oldest first, as the client wrote them. An id that was
   * posted twice is listed twice.
   */
  approvals(): readonly string[];

  /**
   * Resolves with the result of `look` as soon as that is truthy. Calls `look` at once, after each request of a client,
   * after each order, and every 20 ms, since the clock changes events too.
   * @throws BridgeError BRIDGE_SIMULATOR_TIMEOUT after `timeoutMs`, BRIDGE_SIMULATOR_CLOSED when the simulator is
   * closed; any error that `look` throws
   */
  until<T>(look: () => T | false | null | undefined, options?: UntilOptions): Promise<T>;

  /**
   * Removes events, scenario, faults and requests, for a new test. The clock stays, and EventIds are still not reused.
   */
  reset(): void;
  /** Closes all connections and frees the ports. Idempotent. */
  close(): Promise<void>;
}
