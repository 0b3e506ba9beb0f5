// A server's connections → one request of each at a time, and room for new ones.
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** So long may a request take to arrive. */
export const ARRIVAL: ServerOptions = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 5000 };

/** Of all clients; more than any load test opened. */
const MOST_CONNECTIONS = 1024;

/** Sent on one connection without waiting for the answers before them. */
const MOST_WAITING = 16;

interface Turn {
  readonly response: ServerResponse;
  readonly run: () => void;
}

interface Connection {
  isBusy: boolean;
  readonly waiting: Turn[];
}

/**
 * Node hands over all requests of one packet at once, 1,800 of them, and keeps every answer until it is read. Here an answer is made when the one
 * before it has gone, and who sends more than 16 ahead is cut off. At 1,024 connections, the longest idle one makes room for a new one,
 * so that silent clients keep no others out.
 */
export class Connections {
  readonly #all = new Map<Socket, Connection>();
  /** Since when they are, oldest first. */
  readonly #idle = new Set<Socket>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => this.#open(socket));
  }

  /** Calls `run`, which makes and sends the answer, when it is this request's turn; never if the connection has closed by that time. */
  inTurn({ socket }: IncomingMessage, response: ServerResponse, run: () => void): void {
    const connection = this.#all.get(socket);
    if (!connection || socket.destroyed) return;
    if (!connection.isBusy) this.#begin(socket, connection, { response, run });
    else if (connection.waiting.length < MOST_WAITING) connection.waiting.push({ response, run });
    else socket.destroy();
  }

  #open(socket: Socket): void {
    if (this.#all.size >= MOST_CONNECTIONS && !this.#makeRoom()) {
      socket.destroy();
      return;
    }
    this.#all.set(socket, { isBusy: false, waiting: [] });
    this.#idle.add(socket);
    socket.once('close', () => this.#forget(socket));
  }

  #makeRoom(): boolean {
    const [oldest] = this.#idle;
    if (!oldest) return false;
    oldest.destroy();
    this.#forget(oldest);
    return true;
  }

  #forget(socket: Socket): void {
    this.#all.delete(socket);
    this.#idle.delete(socket);
  }

  #begin(socket: Socket, connection: Connection, { response, run }: Turn): void {
    connection.isBusy = true;
    this.#idle.delete(socket);
    response.once('close', () => this.#end(socket, connection));
    run();
  }

  #end(socket: Socket, connection: Connection): void {
    if (socket.destroyed) return;
    const next = connection.waiting.shift();
    if (next) {
      this.#begin(socket, connection, next);
      return;
    }
    connection.isBusy = false;
    this.#idle.add(socket);
  }
}
