// A simulator in this process → when polls are answered and StartRequests arrive.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';

const CHANNEL = 'http.server.request.start';
const PATH = '/metadata/scheduledevents';

interface Wait {
  left: number;
  readonly resolve: (atMs: number) => void;
}

export class Traffic implements Disposable {
  readonly #port: number;
  readonly #waits: Readonly<Record<'GET' | 'POST', Wait[]>> = { GET: [], POST: [] };
  readonly #listener = (message: unknown) =>
    this.#arrived(message as { request: IncomingMessage; response: ServerResponse });

  /** @param url of the simulator */
  constructor(url: string) {
    this.#port = Number(new URL(url).port);
    subscribe(CHANNEL, this.#listener);
  }

  /** The moment at which the next poll that arrives was answered. */
  polled(): Promise<number> {
    return this.#wait('GET', 1);
  }

  /** The moment at which the last of the next `count` StartRequests arrived. */
  posted(count = 1): Promise<number> {
    return this.#wait('POST', count);
  }

  [Symbol.dispose](): void {
    unsubscribe(CHANNEL, this.#listener);
  }

  #wait(method: 'GET' | 'POST', left: number): Promise<number> {
    return new Promise((resolve) => this.#waits[method].push({ left, resolve }));
  }

  #arrived({ request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse }): void {
    if (request.socket.localPort !== this.#port || !request.url?.startsWith(PATH)) return;
    const waits = request.method === 'GET' ? this.#waits.GET : this.#waits.POST;
    const ready = waits.filter((wait) => --wait.left === 0);
    if (ready.length === 0) return;
    waits.splice(0, waits.length, ...waits.filter(({ left }) => left > 0));
    const tell = () => {
      const atMs = performance.now();
      for (const { resolve } of ready) resolve(atMs);
    };
    if (request.method === 'GET') response.once('finish', tell);
    else tell();
  }
}
