// A client's sockets → a gate that tracks them; closing it destroys all and refuses new ones.
import type { Socket } from 'node:net';
import type { ISocketFactory } from 'kafkajs';
import { showBroker } from '../options/broker-address.ts';

/**
 * kafkajs never gives up: `disconnect` waits for every answer without a limit, and a running `send`
 * reconnects afterwards and may continue. A closed gate prevents both.
 */
export class SocketGate {
  readonly #open = new Map<Socket, string>();
  #isClosed = false;

  readonly wrap = (factory: ISocketFactory): ISocketFactory => {
    return (request) => {
      if (this.#isClosed) throw new Error('this connection was closed');
      const socket = factory(request);
      this.#open.set(socket, showBroker(request));
      socket.once('close', () => this.#open.delete(socket));
      return socket;
    };
  };

  get connected(): readonly string[] {
    return [...this.#open].flatMap(([socket, address]) => (socket.connecting || socket.destroyed ? [] : [address]));
  }

  /** Destroys every socket, so that its requests fail, and refuses new ones. Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const socket of this.#open.keys()) end(socket);
    this.#open.clear();
  }
}

/** Ends a socket, with a reset if possible, so that no buffered bytes are sent. */
function end(socket: Socket): void {
  try {
    if (socket.connecting || socket.writableEnded) socket.destroy();
    else socket.resetAndDestroy();
  } catch {
    // TLS sockets cannot be reset.
    socket.destroy();
  }
}
