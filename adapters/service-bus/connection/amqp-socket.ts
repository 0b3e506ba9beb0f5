// Our connections → the WebSocket shape that the SDK accepts, and a report of each loss.
import type { Duplex } from 'node:stream';
import type { Connect } from './connector.ts';

export interface SocketEvents {
  /** A connection could not be opened, was given up, or is lost. May be called twice. */
  lost(error: Error): void;
}

/**
 * The SDK opens its own sockets without a way to trust an authority, to go through a proxy, to learn that a connection is gone before its
 * time limit, or to let go of one whose server no longer answers. It takes a constructor of WebSockets though, and speaks plain AMQP
 * through whatever that makes.
 */
export class AmqpSockets {
  /** What `webSocketOptions.webSocket` of the SDK takes. */
  readonly Socket: new () => AmqpSocket;
  readonly #open = new Set<AmqpSocket>();

  constructor(connect: Connect, events: SocketEvents) {
    const open = this.#open;
    this.Socket = class extends AmqpSocket {
      constructor() {
        super(connect, events, (socket) => open.delete(socket));
        open.add(this);
      }
    };
  }

  /** Ends all of them at once, without a word to the other side. */
  cut(): void {
    for (const socket of this.#open) socket.cut();
  }
}

type Handler<Event> = ((event: Event) => void) | null;

/** rhea sets the handlers right after the construction. */
class AmqpSocket {
  /** None, so that bytes come and go as Buffers, uncopied. */
  readonly binaryType = '';
  readonly url = 'amqp';
  onopen: Handler<undefined> = null;
  onmessage: Handler<{ readonly data: Buffer }> = null;
  onclose: Handler<undefined> = null;
  onerror: Handler<Error> = null;
  readonly #abort = new AbortController();
  readonly #events: SocketEvents;
  readonly #gone: (socket: AmqpSocket) => void;
  #stream: Duplex | null = null;
  #isOver = false;
  #isClosing = false;

  constructor(connect: Connect, events: SocketEvents, gone: (socket: AmqpSocket) => void) {
    this.#events = events;
    this.#gone = gone;
    connect(this.#abort.signal).then(
      (stream) => this.#opened(stream),
      (error: unknown) => this.#end(error instanceof Error ? error : new Error('no connection', { cause: error })),
    );
  }

  send(data: Uint8Array): void {
    this.#stream?.write(data);
  }

  /** rhea is done with it, because of either side: what was on its way is not answered any more. */
  close(): void {
    this.#isClosing = true;
    this.#events.lost(new Error('closed'));
    if (this.#stream === null) this.#abort.abort();
    else this.#stream.end();
  }

  cut(): void {
    this.#isClosing = true;
    this.#abort.abort();
    this.#end(new Error('cut'));
  }

  #opened(stream: Duplex): void {
    if (this.#isOver) return void stream.on('error', () => undefined).destroy();
    this.#stream = stream;
    stream.on('error', (error) => this.#end(error));
    stream.on('data', (data: Buffer) => {
      if (!this.#isOver) this.onmessage?.({ data });
    });
    stream.on('end', () => this.#end(new Error('closed by the other side')));
    stream.on('close', () => this.#end(new Error('closed by the other side')));
    if (this.#isClosing) stream.end();
    else this.onopen?.(undefined);
  }

  #end(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#gone(this);
    this.#stream?.destroy();
    this.#events.lost(error);
    // It ends rhea's timers; a tick later, since what rhea still has to write would start another one.
    process.nextTick(() => (this.#isClosing ? this.onclose?.(undefined) : this.onerror?.(error)));
  }
}
