// A TCP port → a gate before it, which can lose, delay, cut or refuse what passes.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/**
 * `black-hole`: connections are accepted, and no byte passes. `half-open`: requests pass, answers do not. `slow`: each
 * piece passes later. `refuse`: nobody listens. `reset`: connections are reset when data comes.
 */
export const GATE_MODES = ['black-hole', 'half-open', 'slow', 'refuse', 'reset'] as const;
export type GateMode = (typeof GATE_MODES)[number];

const SLOW_MS = 300;

export class Gate {
  /** Pieces that each mode lost, delayed or cut. */
  readonly felt = new Map<GateMode, number>();
  /** Several can be on; the first of `GATE_MODES` counts. */
  readonly #modes = new Set<GateMode>();
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #port = 0;

  private constructor(target: number) {
    this.#target = target;
  }

  static async start(t: TestContext, target: number): Promise<Gate> {
    const gate = new Gate(target);
    await gate.#listen();
    t.after(() => gate.#close());
    return gate;
  }

  get port(): number {
    return this.#port;
  }

  async begin(mode: GateMode): Promise<void> {
    this.#modes.add(mode);
    if (mode === 'refuse') await this.#close();
  }

  async end(mode: GateMode): Promise<void> {
    this.#modes.delete(mode);
    // What passed in part cannot go on.
    for (const socket of this.#sockets) socket.destroy();
    if (mode === 'refuse') await this.#listen();
  }

  get #mode(): GateMode | undefined {
    return GATE_MODES.find((mode) => this.#modes.has(mode));
  }

  async #listen(): Promise<void> {
    this.#server = createServer((client) => this.#join(client)).listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async #close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    const closed = once(server.close(), 'close');
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(client: Socket): void {
    const far = connect(this.#target, '127.0.0.1');
    for (const socket of [client, far]) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        far.destroy();
      });
    }
    client.on('data', (bytes: Buffer) => this.#pass(client, far, bytes, 'request'));
    far.on('data', (bytes: Buffer) => this.#pass(client, far, bytes, 'answer'));
    client.on('end', () => far.end());
    far.on('end', () => client.end());
  }

  #pass(client: Socket, far: Socket, bytes: Buffer, direction: 'request' | 'answer'): void {
    const mode = this.#mode;
    if (mode !== undefined && !(mode === 'half-open' && direction === 'request'))
      this.felt.set(mode, (this.felt.get(mode) ?? 0) + 1);
    const to = direction === 'request' ? far : client;
    if (mode === 'reset') client.resetAndDestroy();
    else if (mode === 'black-hole' || (mode === 'half-open' && direction === 'answer')) return;
    else if (mode === 'slow') setTimeout(() => to.writable && to.write(bytes), SLOW_MS);
    else if (to.writable) to.write(bytes);
  }
}
