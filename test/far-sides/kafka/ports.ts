// Nothing → ports on loopback that no other test takes while held, so that a server can come back.
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

// Below the range from which the system gives out ports, so that no test's port 0 and no outgoing connection gets one.
const FIRST = 20_000;
const BLOCK = 16;
const BLOCKS = 700;

/** Ports in a row. */
export class PortBlock implements Disposable {
  readonly #first: number;
  readonly #claim: Server;

  private constructor(first: number, claim: Server) {
    this.#first = first;
    this.#claim = claim;
  }

  /** @throws when nothing is free */
  static async claim(): Promise<PortBlock> {
    const start = Math.floor(Math.random() * BLOCKS);
    for (let tried = 0; tried < BLOCKS; tried += 1) {
      const first = FIRST + ((start + tried) % BLOCKS) * BLOCK;
      // Whoever listens on a block's first port has the block.
      const claim = await listenOn(first);
      if (claim && (await areFree(first + 1))) return new PortBlock(first, claim.unref());
      claim?.close();
    }
    throw new Error(`no ports are free from ${FIRST} on`);
  }

  /** @param index from 0 to 14 */
  port(index: number): number {
    return this.#first + 1 + index;
  }

  [Symbol.dispose](): void {
    this.#claim.close();
  }
}

async function areFree(first: number): Promise<boolean> {
  for (let port = first; port < first + BLOCK - 1; port += 1) {
    const server = await listenOn(port);
    if (!server) return false;
    server.close();
    await once(server, 'close');
  }
  return true;
}

async function listenOn(port: number): Promise<Server | undefined> {
  const server = createServer().listen({ port, host: '127.0.0.1', exclusive: true });
  try {
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}
