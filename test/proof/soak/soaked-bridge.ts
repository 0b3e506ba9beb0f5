// A configuration and flags of Node → a bridge process, started, asked and stopped by its parent.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { memoryLimit } from '../../support/memory-limit.ts';
import type { Scope } from '../cost/scope.ts';
import { SHIPPED_FLAGS, SHIPPED_MEMORY } from '../cost/shipped.ts';
import type { ProcessPlan, ToProcess } from './bridge-process.ts';
import type { Inside } from './inside.ts';

/** `shipped`: the flags and the memory limit of the image. `plain`: neither, and garbage is collected at each sample. */
export type Way = 'plain' | 'shipped';

/** A stop takes at most 16 s; this machine may be busy. */
const END_LIMIT_MS = 60_000;
const LOG_LINES = 15;

export interface SoakedBridgeOptions extends Omit<ProcessPlan, 'config'> {
  readonly way: Way;
  readonly folder: string;
  readonly token: string;
  /** Of the file bridge.yaml. */
  readonly sections: object;
}

export class SoakedBridge {
  url = '';
  /** Rejects when the process ends. */
  readonly ended: Promise<never>;
  readonly #options: SoakedBridgeOptions;
  readonly #child: ChildProcess;

  private constructor(options: SoakedBridgeOptions, child: ChildProcess) {
    this.#options = options;
    this.#child = child;
    this.ended = once(child, 'exit').then(() => {
      throw this.#failure('ended');
    });
    this.ended.catch(() => {});
  }

  /** Resolves once the bridge listens. */
  static async start(scope: Scope, options: SoakedBridgeOptions): Promise<SoakedBridge> {
    const { way, folder, token, sections, ...given } = options;
    const main = await bundled(folder);
    const plan: ProcessPlan = { ...given, config: join(folder, 'bridge.yaml') };
    writeFileSync(plan.config, JSON.stringify(sections));
    const launcher = way === 'shipped' ? (memoryLimit(SHIPPED_MEMORY)?.launcher ?? []) : [];
    const flags = way === 'shipped' ? SHIPPED_FLAGS : ['--expose-gc'];
    const [command = '', ...words] = [...launcher, process.execPath, ...flags, main, JSON.stringify(plan)];
    const log = openSync(join(folder, 'log'), 'a');
    const child = spawn(command, words, {
      env: { PATH: process.env['PATH'] ?? '', TOKEN: token },
      stdio: ['ignore', 'ignore', log, 'ipc'],
    });
    closeSync(log);
    scope.after(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'close');
    });
    const bridge = new SoakedBridge(options, child);
    bridge.url = ((await bridge.#answer()) as { url: string }).url;
    return bridge;
  }

  /** What the process holds now. */
  async inside(): Promise<Inside> {
    return await this.#ask({ ask: 'inside' });
  }

  /** From now on, virtual time does not wait for deliveries to these sinks. */
  async away(sinks: readonly string[]): Promise<void> {
    await this.#ask({ ask: 'away', sinks });
  }

  /** Writes another configuration, for the next reload. */
  configure(sections: object): void {
    writeFileSync(join(this.#options.folder, 'bridge.yaml'), JSON.stringify(sections));
  }

  /** Stops the bridge; the process must then end by itself. */
  async stop(): Promise<void> {
    await this.#ask({ ask: 'stop' });
    const timer = setTimeout(() => this.#child.kill('SIGABRT'), END_LIMIT_MS);
    await this.ended.catch(() => {});
    clearTimeout(timer);
    if (this.#child.exitCode !== 0) throw this.#failure('did not end by itself with 0');
  }

  async #ask(message: ToProcess): Promise<Inside> {
    this.#child.send(message);
    return ((await this.#answer()) as { inside: Inside }).inside;
  }

  /** @throws Error if the process ends instead */
  async #answer(): Promise<unknown> {
    const gone = new AbortController();
    const answered = once(this.#child, 'message', { signal: gone.signal });
    answered.catch(() => {});
    try {
      return (await Promise.race([answered, this.ended]))[0];
    } finally {
      gone.abort();
    }
  }

  #failure(what: string): Error {
    const { exitCode, signalCode } = this.#child;
    const log = readFileSync(join(this.#options.folder, 'log'), 'utf8').split('\n').slice(-LOG_LINES).join('\n');
    return new Error(`the bridge process ${what} (code ${exitCode}, signal ${signalCode}); its log ends with:\n${log}`);
  }
}

/** The process as one bundle, as the command is: the sources would take memory that the product does not. */
async function bundled(folder: string): Promise<string> {
  await build({
    entryPoints: { 'bridge-process': join(import.meta.dirname, 'bridge-process.ts') },
    outdir: join(folder, 'program'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    alias: { rxjs: resolve('node_modules/rxjs/dist/esm/index.js') },
    logLevel: 'error',
    banner: {
      js: "import { createRequire as bundledRequire } from 'node:module'; const require = bundledRequire(import.meta.url);",
    },
  });
  return join(folder, 'program', 'bridge-process.mjs');
}
