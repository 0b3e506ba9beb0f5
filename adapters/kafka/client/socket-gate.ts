// A client's sockets → a gate that counts them, and when closed ends them all and refuses new ones.
import type { Socket } from 'node:net';
import type { ISocketFactory } from 'kafkajs';
import { showBroker } from '../options/broker-address.ts';

/**
 * kafkajs never gives up: `disconnect` waits for every answer, however long that takes, and a `send` that was under way
 * connects again afterwards and may go on. Behind a closed gate it can do neither.
 */
export class SocketGate {
  readonly #open = new Map<Socket, string>();
  #isClosed = false;

  /** The same sockets, under this gate. */
  readonly wrap = (factory: ISocketFactory): ISocketFactory => {
    return (request) => {
      if (this.#isClosed) throw new Error('this connection was closed');
      const socket = factory(request);
      this.#open.set(socket, showBroker(request));
      socket.once('close', () => this.#open.delete(socket));
      return socket;
    };
  };

  /** Addresses that are connected now. */
  get connected(): readonly string[] {
    return [...this.#open].flatMap(([socket, address]) => (socket.connecting || socket.destroyed ? [] : [address]));
  }

  /** Ends every socket, and what waits on it fails; no other is made. Harmless twice. */
  close(): void {
    this.#isClosed = true;
    for (const socket of this.#open.keys()) end(socket);
    this.#open.clear();
  }
}

/** With a reset where that is possible, so that nothing that was not sent yet is sent after all. */
function end(socket: Socket): void {
  try {
    if (socket.connecting || socket.writableEnded) socket.destroy();
    else socket.resetAndDestroy();
  } catch {
    // TLS has no reset of its own.
    socket.destroy();
  }
}
