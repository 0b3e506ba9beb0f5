// SimulatedAzure: what a test in Node gets to steer and look at the simulator.
/// <reference lib="esnext.disposable" preserve="true" />

import type { GroupState, ListedEvent } from '../control/group-state.ts';
import type { WireEvent } from '../events/event.ts';
import type { JournalledRequest } from '../journal.ts';

/** The machine's name and where its metadata service answers: `http://HOST:PORT`, without a slash at its end. */
export interface MachineUrl {
  readonly vm: string;
  readonly url: string;
}

/**
 * An event to be, or changes to one: any of the nine fields that the metadata service lists, and four that it does not show. All may be left
 * out; docs/simulate/simulator.md says what stands then. Durations are texts such as `30s`, `15m`, `2h`, in simulated time.
 */
export interface EventOrder {
  /** A new GUID where absent. One that was given before, in whatever letter case, is refused. */
  readonly EventId?: string;
  /** `Freeze` where absent; any text is taken. */
  readonly EventType?: string;
  readonly ResourceType?: string;
  /** All machines of the group where absent. */
  readonly Resources?: readonly string[];
  readonly EventStatus?: 'Scheduled' | 'Started';
  /** RFC 1123, ISO 8601 or a Date. Where it and `notice` are absent: now + the least notice of the type. */
  readonly NotBefore?: string | Date;
  readonly Description?: string;
  readonly EventSource?: string;
  readonly DurationInSeconds?: number;
  /** The machines that see it; all where absent. */
  readonly seen?: readonly string[];
  /** NotBefore, counted from now. */
  readonly notice?: string;
  /** From Started until it is no longer listed; `10m` where absent. */
  readonly startedFor?: string;
  /** How long it stays Scheduled after its approval or its NotBefore, for other tenants of the hardware. */
  readonly otherTenants?: string;
}

/** How the next answers of the metadata routes misbehave: at least one of the first seven. */
export interface FaultOrder {
  /** 200 to 599; alone it has an empty body. */
  readonly status?: number;
  /** A text as it is, anything else as its JSON; without a status 200. */
  readonly body?: string | readonly unknown[] | Readonly<Record<string, unknown>>;
  /** Besides or over those of the answer. */
  readonly headers?: Readonly<Record<string, string | number>>;
  /** The answer comes so much later, in real time. */
  readonly delay?: string;
  /** The connection breaks instead of an answer. */
  readonly reset?: boolean;
  /** The connection breaks after so many bytes of the body. */
  readonly truncate?: number;
  /** The document before the last change is listed. */
  readonly stale?: boolean;
  /** So many answers; 1 where it and `for` are absent. */
  readonly times?: number;
  /** All answers within so much simulated time. */
  readonly for?: string;
  /** Only answers of this machine. */
  readonly vm?: string;
  /** Only answers to this method. */
  readonly method?: string;
  /** Only answers at this path and below it, such as `/metadata/instance`; without case. */
  readonly path?: string;
  /** Only answers to requests of this api-version, or of one of these. */
  readonly apiVersion?: string | readonly string[];
}

export interface UntilOptions {
  /** Real time; 10 s where absent. */
  readonly timeoutMs?: number;
}

/**
 * A metadata service of Azure, simulated in this process. Orders take effect at once and are checked as the control routes of docs/simulate/simulator.md
 * check them; each throws `BRIDGE_SIMULATOR_REFUSED` where a body is malformed (`status` 400), an id or a name is unknown (404) or a move is
 * impossible now (409), and `BRIDGE_SIMULATOR_CLOSED` after `close`. What can be read stays readable after it.
 */
export interface SimulatedAzure extends AsyncDisposable {
  /** Of the first machine. */
  readonly url: string;
  /** Of all machines, in their order. */
  readonly urls: readonly MachineUrl[];

  /** Lists a new event; with all fields that were not given filled in. */
  schedule(event?: EventOrder): WireEvent;
  /** Changes the given fields; the EventId stays. */
  change(eventId: string, fields: EventOrder): WireEvent;
  /** Scheduled → Started. */
  start(eventId: string): WireEvent;
  /** Started → gone. Gives the event as it was last. */
  end(eventId: string): WireEvent;
  /** Scheduled → gone. Gives the event as it was last. */
  cancel(eventId: string): WireEvent;

  /**
   * Plays a scenario in the place of a running one: one that comes with the simulator, by its name, or a YAML file, by its path.
   * @throws BridgeError BRIDGE_USAGE for an unknown name, BRIDGE_SIMULATOR_SCENARIO with all faults of a file
   */
  play(scenario: string): Promise<void>;

  /** The simulated time. */
  now(): Date;
  /** Lets so much simulated time pass at once, such as `15m`; all that falls due on the way happens, in order. */
  advance(duration: string): void;
  /** Simulated seconds a second; 0 stops the clock. */
  setSpeed(speed: number): void;

  /**
   * In the place of the fault before. Orders of a list are played one after the other: the next one's turn comes when the one before it is used up.
   * In a list, one with `times` or `for` alone leaves so many answers as they are.
   */
  fault(order: FaultOrder | readonly FaultOrder[]): void;
  clearFaults(): void;

  /** What is listed, oldest first, with the moments of each event's life. */
  events(): readonly ListedEvent[];
  /** All that can be known: clock, service, machines, scenario, fault, events listed and over. As `GET /simulator`. */
  state(): GroupState;
  /** What clients asked of the metadata routes, oldest first, the last 10,000. */
  requests(): readonly JournalledRequest[];
  /** The EventIds of all StartRequests that were answered 200, oldest first, as the client wrote them; those posted twice stand twice. */
  approvals(): readonly string[];

  /**
   * Resolves with what `look` gives as soon as that is truthy. It is looked at once, after each request of a client and each order, and every
   * 20 ms for what the clock does.
   * @throws BridgeError BRIDGE_SIMULATOR_TIMEOUT after `timeoutMs`, BRIDGE_SIMULATOR_CLOSED when it is closed; what `look` throws
   */
  until<T>(look: () => T | false | null | undefined, options?: UntilOptions): Promise<T>;

  /** No events, scenario, faults or requests, as for a new test; the clock goes on, and no EventId comes again. */
  reset(): void;
  /** Ends all connections and frees the ports. Can be called twice. */
  close(): Promise<void>;
}
