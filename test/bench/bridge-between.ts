// The two far sides and a folder → a bridge process between them, as often as one is needed.
import type { StdioOptions } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebhookReceiver } from '../far-sides/webhook-receiver.ts';
import { Program } from '../support/program.ts';
import { hook, type Sections } from '../support/running-bridge.ts';
import { MetadataService } from './metadata-service.ts';

/** Not in /tmp, which may be in memory: what fsync costs is a part of the figures. */
const FOLDER = join(import.meta.dirname, '../../node_modules/.bench-');

/** As the systemd unit in deploy/ starts it. */
export const FLAGS: readonly string[] = ['--no-opt', '--no-maglev', '--max-semi-space-size=1'];
const MAIN = join(import.meta.dirname, '../../dist/main.js');

export interface BridgeStart {
  /** Another program that takes the same words. */
  readonly main?: string | undefined;
  /** Of Node; those of the unit by default. */
  readonly flags?: readonly string[];
  /** Besides PATH. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export class BridgeBetween implements AsyncDisposable {
  readonly metadata: MetadataService;
  readonly receiver: WebhookReceiver;
  readonly folder = mkdtempSync(FOLDER);
  readonly #programs: Program[] = [];

  private constructor(metadata: MetadataService, receiver: WebhookReceiver) {
    this.metadata = metadata;
    this.receiver = receiver;
  }

  static async start(): Promise<BridgeBetween> {
    return new BridgeBetween(await MetadataService.start(), await WebhookReceiver.start());
  }

  get store(): string {
    return join(this.folder, 'store');
  }

  /** Writes a configuration; with its path. The store stays from one call to the next. */
  configure(pollInterval: string, sections: Sections = {}): string {
    const config = join(this.folder, 'bridge.yaml');
    const whole = {
      version: 1,
      metadata: { endpoint: this.metadata.url, pollInterval },
      store: { path: this.store },
      http: { listen: '127.0.0.1:0' },
      sinks: { hooks: hook(this.receiver.url) },
      ...sections,
    };
    writeFileSync(config, JSON.stringify(whole));
    return config;
  }

  /** Spawns `run` and returns at once. */
  spawnBridge(
    pollInterval: string,
    sections: Sections = {},
    { main = MAIN, flags = FLAGS, env }: BridgeStart = {},
  ): Program {
    const config = this.configure(pollInterval, sections);
    return this.spawn(withFlags([main, 'run', '--config', config], ['ignore', 'ignore', 'pipe'], flags, env));
  }

  /** Resolves once the bridge handles documents. */
  async startBridge(pollInterval: string, sections?: Sections, how?: BridgeStart): Promise<Program> {
    const bridge = this.spawnBridge(pollInterval, sections, how);
    await bridge.logs('"watching"');
    return bridge;
  }

  /** Ends with the surroundings. */
  spawn(program: Program): Program {
    this.#programs.push(program);
    return program;
  }

  /** The path of a file that holds this, and goes with the surroundings. */
  secret(text: string): string {
    const path = join(this.folder, 'secret');
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** The moment (elapsed time) at which the next CloudEvent is here. */
  received(): Promise<number> {
    return new Promise((resolve) => {
      this.receiver.default = (response) => {
        resolve(performance.now());
        response.writeHead(204).end();
      };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) if (!program.hasEnded) await program.end('SIGTERM');
    await this.metadata[Symbol.asyncDispose]();
    await this.receiver[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A script and its words, with Node flags: those of the unit by default. */
export function withFlags(
  words: readonly string[],
  stdio: StdioOptions,
  flags: readonly string[] = FLAGS,
  env: Readonly<Record<string, string>> = {},
): Program {
  const [main = '', ...args] = [...flags, ...words];
  return new Program(args, { main, stdio, env });
}

/** The process id; a program that could not be started has none. */
export function pidOf({ child }: Program): number {
  if (child.pid === undefined) throw new Error('the process could not be started');
  return child.pid;
}
