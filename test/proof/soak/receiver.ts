// POSTs of the bridge → the bodies that a receiver accepted, in order; it can be a black hole.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from '../cost/scope.ts';

interface Accepted {
  readonly body: string;
  readonly atMs: number;
}

export class Receiver {
  /** Requests to these paths get no answer. */
  readonly away = new Set<string>();
  url = '';
  readonly #accepted = new Map<string, Accepted[]>();

  static async start(scope: Scope): Promise<Receiver> {
    const receiver = new Receiver();
    const server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('error', () => {});
      request.on('end', () => {
        const path = request.url ?? '';
        if (receiver.away.has(path)) return;
        receiver.#accept(path, Buffer.concat(pieces).toString('utf8'));
        response.writeHead(204).end();
      });
    });
    server.keepAliveTimeout = 0;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    scope.after(() => {
      server.closeAllConnections();
      server.close();
    });
    receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return receiver;
  }

  /** The bodies that were accepted at this path, in their order. */
  bodiesOf(path: string): readonly string[] {
    return this.#acceptedAt(path).map(({ body }) => body);
  }

  /** The seconds from the first to the last body of these places in the order of the path. */
  secondsBetween(path: string, from: number, to: number): number {
    const accepted = this.#acceptedAt(path).slice(from, to);
    return ((accepted.at(-1)?.atMs ?? 0) - (accepted[0]?.atMs ?? 0)) / 1000;
  }

  #accept(path: string, body: string): void {
    const accepted = this.#acceptedAt(path);
    accepted.push({ body, atMs: performance.now() });
    this.#accepted.set(path, accepted);
  }

  #acceptedAt(path: string): Accepted[] {
    return this.#accepted.get(path) ?? [];
  }
}
