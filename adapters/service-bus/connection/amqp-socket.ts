// The bridge's connections → the WebSocket class that the SDK accepts, and a report of each loss.
import type { Duplex } from 'node:stream';
import type { Connect } from './connector.ts';

/** Called if a connection cannot be opened, is closed, or is lost. May be called twice. */
type Lost = (error: Error) => void;

/**
 * Sockets for the SDK. The SDK's own sockets cannot trust another authority, use a proxy, report a lost connection
 * before the time limit, or drop a server that does not answer. But the SDK accepts a WebSocket class, and sends plain
 * AMQP through its objects.
 */
export class AmqpSockets {
  /** The class for `webSocketOptions.webSocket` of the SDK. */
  readonly Socket: new () => AmqpSocket;
  readonly #open = new Set<AmqpSocket>();

  constructor(connect: Connect, lost: Lost) {
    const open = this.#open;
    this.Socket = class extends AmqpSocket {
      constructor() {
        super(connect, lost, (socket) => open.delete(socket));
        open.add(this);
      }
    };
  }

  /** Destroys all sockets at once. */
  cut(): void {
    for (const socket of this.#open) socket.cut();
  }
}

type Handler<Event> = ((event: Event) => void) | null;

/** rhea sets the handlers right after construction. */
class AmqpSocket {
  /** Empty, so that bytes are passed as Buffers, uncopied. */
  readonly binaryType = '';
  readonly url = 'amqp';
  onopen: Handler<undefined> = null;
  onmessage: Handler<{ readonly data: Buffer }> = null;
  onclose: Handler<undefined> = null;
  onerror: Handler<Error> = null;
  readonly #abort = new AbortController();
  readonly #lost: Lost;
  readonly #gone: (socket: AmqpSocket) => void;
  #stream: Duplex | null = null;
  #isOver = false;
  #isClosing = false;

  constructor(connect: Connect, lost: Lost, gone: (socket: AmqpSocket) => void) {
    this.#lost = lost;
    this.#gone = gone;
    connect(this.#abort.signal).then(
      (stream) => this.#opened(stream),
      (error: unknown) => this.#end(error instanceof Error ? error : new Error('no connection', { cause: error })),
    );
  }

  send(data: Uint8Array): void {
    this.#stream?.write(data);
  }

  /** Called when either side closes: requests in flight get no answer any more. */
  close(): void {
    this.#isClosing = true;
    this.#lost(new Error('closed'));
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
    this.#lost(error);
    // This ends rhea's timers. It runs a tick later, because rhea's pending writes would start another timer.
    process.nextTick(() => (this.#isClosing ? this.onclose?.(undefined) : this.onerror?.(error)));
  }
}
