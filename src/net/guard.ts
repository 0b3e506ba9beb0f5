// A listener's TCP connections → those that may stay, within limits of number, time and memory.
import type { Socket } from 'node:net';
import type { DropReason } from '../model/problems.ts';
import type { Deps } from '../time/clock.ts';
import { networkOf } from './private-addresses.ts';

/** Of all networks together: a descriptor and some memory each. */
const MOST = 1024;
/** Unread answers of all connections. A single one may be larger. */
const MOST_UNREAD_BYTES = 16 * 1024 * 1024;
/** Requests, and what follows them, that were read and not answered. */
const MOST_INPUT_BYTES = 8 * 1024 * 1024;
/** A client is told `keepAliveMs`, and needs some time to notice it. */
const KEPT_LONGER_MS = 1000;
const REQUEST_TIMEOUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';

/**
 * | state | the connection waits for | for at most | then |
 * | --- | --- | --- | --- |
 * | `head` | the TLS handshake, then the head of a request | 10 s each | 408 if HTTP has begun |
 * | `kept` | another request | `keepAliveMs` and 1 s | it is closed |
 * | `turn` | the turn of its request | | |
 * | `body` | the body of its request | 30 s | 408 |
 * | `unread` | its client, which reads the answer | 30 s | it is reset |
 * | `working` | nothing: a handler works on its request | | |
 * | `streaming` | nothing: its answer has no end. It does not count, because its route limits the streams | | |
 *
 * A connection that waits can be closed to make room for a new one; one that waits for nothing cannot.
 */
type State = 'head' | 'kept' | 'turn' | 'body' | 'unread' | 'working' | 'streaming' | 'ended';

const LIMITS_MS: Partial<Readonly<Record<State, number>>> = { head: 10_000, body: 30_000, unread: 30_000 };
const NOT_WAITING: readonly State[] = ['working', 'streaming', 'ended'];

export interface GuardOptions {
  /** How long a connection is kept for another request. */
  readonly keepAliveMs: number;
  /** Connections of one address, or IPv6 /64, that may wait at the same time. */
  readonly mostWaiting: number;
  /** A connection was dropped, of this address or IPv6 /64. */
  readonly onDropped: (network: string, reason: DropReason) => void;
  readonly deps: Pick<Deps, 'after'>;
}

/** One for each listener. */
export class Guard {
  readonly options: GuardOptions;
  readonly #all = new Set<ClientConnection>();
  #streams = 0;
  /** By network; in each, the connection that has waited longest comes first. */
  readonly #waiting = new Map<string, Set<ClientConnection>>();
  /** Their bytes, the oldest first. */
  readonly #unread = new Map<ClientConnection, number>();
  #unreadBytes = 0;
  /** Their bytes that were read and not answered. */
  readonly #input = new Map<ClientConnection, number>();
  #inputBytes = 0;
  #isClosing = false;

  constructor(options: GuardOptions) {
    this.options = options;
  }

  /**
   * @param tcp before any TLS. Returns null if there is no room, or if the client has reset the connection; it is then
   * closed.
   */
  admit(tcp: Socket): ClientConnection | null {
    // A reset connection has no address any more.
    const network = tcp.remoteAddress && networkOf(tcp.remoteAddress);
    if (network && this.#hasRoomFor(network)) {
      const connection = new ClientConnection(tcp, network, this);
      this.#all.add(connection);
      connection.enter('head');
      return connection;
    }
    if (network) this.options.onDropped(network, 'full');
    tcp.destroy();
    return null;
  }

  /** Closes the connections without a request or an answer, and each of the others after its answer. */
  close(): void {
    this.#isClosing = true;
    this.closeQuiet();
  }

  /** Closes the connections without a request or an answer. */
  closeQuiet(): void {
    for (const connection of [...this.#all]) if (connection.isQuiet) connection.close();
  }

  closeAll(): void {
    for (const connection of [...this.#all]) connection.close();
  }

  /** Called by a connection. @param bytes of its answer, in `unread` */
  moved(connection: ClientConnection, before: State, state: State, bytes: number): void {
    this.#streams += Number(state === 'streaming') - Number(before === 'streaming');
    this.#unreadBytes += bytes - (this.#unread.get(connection) ?? 0);
    this.#unread.delete(connection);
    this.#leave(connection);
    if (state === 'ended') this.#all.delete(connection);
    if (state === 'ended') this.read(connection, 0);
    if (!NOT_WAITING.includes(state)) this.#wait(connection);
    if (bytes > 0) this.#unread.set(connection, bytes);
    if (this.#isClosing && state === 'kept') connection.close();
    for (const [oldest] of this.#unread) {
      if (this.#unreadBytes <= MOST_UNREAD_BYTES || this.#unread.size === 1) break;
      oldest.drop('unread');
    }
  }

  /** Called by a connection. @param bytes that were read from its client and not answered */
  read(connection: ClientConnection, bytes: number): void {
    this.#inputBytes += bytes - (this.#input.get(connection) ?? 0);
    if (bytes > 0) this.#input.set(connection, bytes);
    else this.#input.delete(connection);
    while (this.#inputBytes > MOST_INPUT_BYTES) {
      const waiting = [...this.#input].filter(([{ isWaiting }]) => isWaiting);
      if (waiting.length < 2) break;
      waiting.reduce((one, other) => (other[1] > one[1] ? other : one))[0].drop('crowded');
    }
  }

  #hasRoomFor(network: string): boolean {
    const own = this.#waiting.get(network);
    if (own !== undefined && own.size >= this.options.mostWaiting) longestOf(own)?.drop('crowded');
    if (this.#isFull) this.#longestOfLargest()?.drop('crowded');
    return !this.#isFull;
  }

  get #isFull(): boolean {
    return this.#all.size - this.#streams >= MOST;
  }

  #longestOfLargest(): ClientConnection | undefined {
    let largest: ReadonlySet<ClientConnection> = new Set();
    for (const connections of this.#waiting.values()) if (connections.size > largest.size) largest = connections;
    return longestOf(largest);
  }

  #wait(connection: ClientConnection): void {
    const connections = this.#waiting.get(connection.network) ?? new Set();
    this.#waiting.set(connection.network, connections.add(connection));
  }

  #leave(connection: ClientConnection): void {
    const connections = this.#waiting.get(connection.network);
    connections?.delete(connection);
    if (connections?.size === 0) this.#waiting.delete(connection.network);
  }
}

function longestOf(connections: ReadonlySet<ClientConnection>): ClientConnection | undefined {
  return connections.values().next().value;
}

/** A connection that a guard has admitted. */
export class ClientConnection {
  readonly address: string;
  readonly network: string;
  /** After a handshake, the TLS socket. */
  socket: Socket;
  readonly #tcp: Socket;
  readonly #guard: Guard;
  #state: State = 'head';
  #hasBegun = false;
  #cancel = () => {};

  constructor(tcp: Socket, network: string, guard: Guard) {
    this.address = tcp.remoteAddress ?? '';
    this.network = network;
    this.socket = tcp;
    this.#tcp = tcp;
    this.#guard = guard;
    tcp.once('close', () => this.#end());
  }

  get hasEnded(): boolean {
    return this.#state === 'ended';
  }

  get isQuiet(): boolean {
    return this.#state === 'head' || this.#state === 'kept';
  }

  /** Whether it waits for its client or for its turn, so that it can be closed. */
  get isWaiting(): boolean {
    return !NOT_WAITING.includes(this.#state);
  }

  /** @param bytes that were read from the client and not answered */
  read(bytes: number): void {
    if (this.#state !== 'ended') this.#guard.read(this, bytes);
  }

  /** HTTP begins on this socket. */
  begin(socket: Socket): void {
    this.socket = socket;
    this.#hasBegun = true;
    this.enter('head');
  }

  /** The first bytes of another request have arrived. */
  resume(): void {
    if (this.#state === 'kept') this.enter('head');
  }

  /** @param bytes of the answer, in `unread` */
  enter(state: State, bytes = 0): void {
    if (this.#state === 'ended') return;
    const before = this.#state;
    const { keepAliveMs, deps } = this.#guard.options;
    const limitMs = state === 'kept' ? keepAliveMs + KEPT_LONGER_MS : LIMITS_MS[state];
    this.#cancel();
    this.#state = state;
    this.#cancel = limitMs === undefined ? () => {} : deps.after(limitMs, () => this.#expire());
    this.#guard.moved(this, before, state, bytes);
  }

  /** Closes it at once, with everything that was not sent. */
  drop(reason: DropReason): void {
    if (this.#state === 'ended') return;
    this.#guard.options.onDropped(this.network, reason);
    this.close();
  }

  /**
   * Resets it, so that no unread answer is kept. A quiet one is ended: its client may still be reading the last answer.
   */
  close(): void {
    const { isQuiet } = this;
    this.#end();
    if (isQuiet) this.#tcp.destroy();
    else this.#tcp.resetAndDestroy();
  }

  #expire(): void {
    if (this.#state === 'unread') this.drop('unread');
    if (this.#hasBegun && (this.#state === 'head' || this.#state === 'body')) this.socket.write(REQUEST_TIMEOUT);
    this.#end();
    this.#tcp.destroy();
  }

  #end(): void {
    this.enter('ended');
  }
}
