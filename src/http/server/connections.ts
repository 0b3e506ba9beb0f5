// Connections → those that may stay: the longest waiting ones make room for new ones.
import type { Socket } from 'node:net';
import type { DropReason } from '../../model/problems.ts';
import type { Deps } from '../../time/clock.ts';
import { networkOf } from '../network-of.ts';

/** Of all networks together: a descriptor and some memory each. */
const MOST = 1024;
/** Of one address or IPv6 /64, those that wait: for TLS, for a request, for a turn, or for the client to read its answer. */
const MOST_WAITING = 256;
/** How long a connection is kept for another request: Node tells 5 s to its client, which needs some of it to notice. */
const KEPT_MS = 6000;

/** A connection that was let in. */
export interface Connection {
  readonly address: string;
  /** The bridge works on its request from now on. */
  works(): void;
  /** The bridge answers it without an end: it takes no room from others, as its route bounds how many there are. */
  streams(): void;
  /** From now on the bridge does nothing for it: the client is to send a request or to read the answer, or its request has no turn yet. */
  waits(what: 'request' | 'answer' | 'turn'): void;
  /** Ends it at once, with all that was not sent. */
  drop(reason: DropReason): void;
}

type OnDropped = (network: string, reason: DropReason) => void;

/** One for each listener. */
export class Connections {
  readonly #deps: Pick<Deps, 'after'>;
  readonly #onDropped: OnDropped;
  readonly #all = new Map<string, Member>();
  /** By network; in each, who has waited longest comes first. */
  readonly #waiting = new Map<string, Set<Member>>();
  #streaming = 0;

  constructor(deps: Pick<Deps, 'after'>, onDropped: OnDropped) {
    this.#deps = deps;
    this.#onDropped = onDropped;
  }

  /** A TCP connection, before any TLS. False: there is no room for it, or its caller has reset it already, and it is closed. */
  admit(socket: Socket): boolean {
    // A reset connection has no address any more, and the map's keys are made of addresses.
    if (socket.remoteAddress === undefined) {
      socket.destroy();
      return false;
    }
    const member = new Member(socket, this.#deps, this.#waiting, (reason) => this.#onDropped(member.network, reason));
    const own = this.#waiting.get(member.network);
    if (own !== undefined && own.size >= MOST_WAITING) longestOf(own)?.drop('crowded');
    if (this.#isFull) this.#longestOfLargest()?.drop('crowded');
    if (this.#isFull) {
      member.drop('full');
      return false;
    }
    const key = keyOf(socket);
    this.#all.set(key, member);
    member.onEnd = () => {
      this.#all.delete(key);
      if (member.isStream) this.#streaming -= 1;
    };
    member.onStream = () => {
      this.#streaming += 1;
    };
    member.waits('request');
    return true;
  }

  /** That of a socket, also of the TLS socket above it; undefined once it has ended. */
  of(socket: Socket): Connection | undefined {
    return this.#all.get(keyOf(socket));
  }

  /** Those without a request or an answer. */
  closeQuiet(): void {
    for (const member of [...this.#all.values()]) if (member.isQuiet) member.close();
  }

  closeAll(): void {
    for (const member of [...this.#all.values()]) member.close();
  }

  get #isFull(): boolean {
    return this.#all.size - this.#streaming >= MOST;
  }

  #longestOfLargest(): Member | undefined {
    let largest: Set<Member> | undefined;
    for (const members of this.#waiting.values()) if (members.size > (largest?.size ?? 0)) largest = members;
    return largest && longestOf(largest);
  }
}

class Member implements Connection {
  readonly address: string;
  readonly network: string;
  onEnd: () => void = () => {};
  onStream: () => void = () => {};
  readonly #socket: Socket;
  readonly #deps: Pick<Deps, 'after'>;
  readonly #waiting: Map<string, Set<Member>>;
  readonly #onDropped: (reason: DropReason) => void;
  #isQuiet = true;
  #isStream = false;
  #cancel = () => {};
  #hasEnded = false;

  constructor(socket: Socket, deps: Pick<Deps, 'after'>, waiting: Map<string, Set<Member>>, onDropped: (reason: DropReason) => void) {
    this.address = socket.remoteAddress ?? '';
    this.network = networkOf(this.address);
    this.#socket = socket;
    this.#deps = deps;
    this.#waiting = waiting;
    this.#onDropped = onDropped;
    socket.once('close', () => this.#end());
  }

  get isQuiet(): boolean {
    return this.#isQuiet;
  }

  get isStream(): boolean {
    return this.#isStream;
  }

  streams(): void {
    this.works();
    if (this.#isStream || this.#hasEnded) return;
    this.#isStream = true;
    this.onStream();
  }

  works(): void {
    this.#isQuiet = false;
    this.#leave();
  }

  waits(what: 'request' | 'answer' | 'turn'): void {
    if (this.#hasEnded) return;
    // Not for a new connection: Node limits the time until its first request.
    const isKept = !this.#isQuiet && what === 'request';
    this.#isQuiet = what === 'request';
    this.#leave();
    if (isKept) this.#cancel = this.#deps.after(KEPT_MS, () => this.close());
    const members = this.#waiting.get(this.network) ?? new Set();
    this.#waiting.set(this.network, members.add(this));
  }

  drop(reason: DropReason): void {
    if (this.#hasEnded) return;
    this.#onDropped(reason);
    this.close();
  }

  /** Resets the connection if an answer is unread, so that the operating system keeps nothing of it; else the client may still be reading the last one. */
  close(): void {
    this.#end();
    if (this.#isQuiet) this.#socket.destroy();
    else this.#socket.resetAndDestroy();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#leave();
    this.onEnd();
  }

  #leave(): void {
    this.#cancel();
    const members = this.#waiting.get(this.network);
    members?.delete(this);
    if (members?.size === 0) this.#waiting.delete(this.network);
  }
}

function longestOf(members: ReadonlySet<Member>): Member | undefined {
  return members.values().next().value;
}

/** What no two connections have in common at the same time. */
function keyOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`;
}
