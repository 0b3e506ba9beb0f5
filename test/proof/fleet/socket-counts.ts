// Sockets of a server → how many there were, how many at a time, and the bytes on them.
import { createHash } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';

export class SocketCounts {
  connections = 0;
  mostOpen = 0;
  #bytesIn = 0;
  #bytesOut = 0;
  readonly #open = new Set<Socket>();

  add(socket: Socket): void {
    this.connections += 1;
    this.#open.add(socket);
    this.mostOpen = Math.max(this.mostOpen, this.#open.size);
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#open.delete(socket);
      this.#bytesIn += socket.bytesRead;
      this.#bytesOut += socket.bytesWritten;
    });
  }

  get bytesIn(): number {
    return [...this.#open].reduce((sum, { bytesRead }) => sum + bytesRead, this.#bytesIn);
  }

  get bytesOut(): number {
    return [...this.#open].reduce((sum, { bytesWritten }) => sum + bytesWritten, this.#bytesOut);
  }
}

/** Passes everything on to a port of loopback, and counts it. */
export function countedWay(counts: SocketCounts, port: () => number): Server {
  return createServer((client) => {
    counts.add(client);
    const server = connect(port(), '127.0.0.1');
    server.on('error', () => client.destroy());
    client.on('error', () => server.destroy());
    client.pipe(server).pipe(client);
  });
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
