// Names of queues → the Service Bus test server in its own process, and sinks that send to it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceBusClient } from '@azure/service-bus';
import { Program } from '../support/program.ts';
import type { Sections } from '../support/running-bridge.ts';

const SERVER = join(import.meta.dirname, '../far-sides/service-bus/serve.ts');
/** As docs/operate/service-bus.md has it. */
const QUEUE = { duplicateDetection: '10m' };

export class BenchNamespace implements AsyncDisposable {
  readonly connection: string;
  readonly #server: Program;
  readonly #folder = mkdtempSync(join(tmpdir(), 'bridge-bench-'));

  private constructor(server: Program, connection: string) {
    this.#server = server;
    this.connection = connection;
    writeFileSync(join(this.#folder, 'connection'), connection);
  }

  /** With these queues. */
  static async start(names: readonly string[]): Promise<BenchNamespace> {
    const queues = Object.fromEntries(names.map((name) => [name, QUEUE]));
    const server = new Program([JSON.stringify({ queues })], { main: SERVER });
    const [connection = ''] = await server.lines(1);
    return new BenchNamespace(server, connection);
  }

  /** The section `sinks` with one that sends there. */
  sink(queue: string): Sections & { readonly sinks: Sections } {
    return {
      sinks: { bus: { type: 'service-bus', connectionString: { file: join(this.#folder, 'connection') }, queue } },
    };
  }

  /** @throws where the queue has fewer messages */
  async holds(queue: string, count: number): Promise<void> {
    const client = new ServiceBusClient(this.connection);
    const messages = await client.createReceiver(queue).peekMessages(count);
    await client.close();
    if (messages.length < count) throw new Error(`only ${messages.length} messages were delivered`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.end('SIGTERM');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
