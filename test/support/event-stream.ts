// A URL of Server-Sent Events → its events, comments and end, as a reader sees them.
import http from 'node:http';
import type { TestContext } from 'node:test';

export interface StreamedEvent {
  readonly id: number;
  readonly event: string;
  readonly data: string;
}

export interface EventStream {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly events: readonly StreamedEvent[];
  /** All that came. */
  readonly text: string;
  readonly isEnded: boolean;
  /** Resolves once `is` holds; asked again at each piece, and at the end. */
  until(is: () => boolean): Promise<void>;
  /** Takes nothing more from its socket, or goes on. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Resolves with its head. */
export function readStream(t: TestContext, url: string, headers: http.OutgoingHttpHeaders = {}): Promise<EventStream> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { headers, agent: false }, (response) => resolve(new Reader(request, response)));
    t.after(() => request.destroy());
    request.on('error', reject);
  });
}

class Reader implements EventStream {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly events: StreamedEvent[] = [];
  text = '';
  isEnded = false;
  readonly #request: http.ClientRequest;
  readonly #response: http.IncomingMessage;
  #rest = '';
  #waiting: (() => void)[] = [];

  constructor(request: http.ClientRequest, response: http.IncomingMessage) {
    this.#request = request;
    this.#response = response;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.setEncoding('utf8');
    response.on('data', (piece: string) => this.#take(piece));
    response.on('error', () => {});
    response.on('close', () => {
      this.isEnded = true;
      this.#tell();
    });
  }

  until(is: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (is()) resolve();
        else this.#waiting.push(look);
      };
      look();
    });
  }

  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  close(): void {
    this.#request.destroy();
  }

  #take(piece: string): void {
    this.text += piece;
    const blocks = (this.#rest + piece).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, id, event, data] = /^id: (\d+)\nevent: ([^\n]*)\ndata: ([^\n]*)$/.exec(block) ?? [];
      if (id !== undefined && event !== undefined && data !== undefined)
        this.events.push({ id: Number(id), event, data });
    }
    this.#tell();
  }

  #tell(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const look of waiting) look();
  }
}
