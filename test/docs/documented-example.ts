// A page of docs/receive/examples/ → its programs, run beside the built bridge and the simulator.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type SimulatedAzure, startSimulator, type WireEvent } from '../../src/simulator.ts';
import { freePorts } from '../far-sides/simulator-server.ts';
import { Project } from '../package/installed-package.ts';
import { poll } from '../support/poll.ts';
import { Program, run } from '../support/program.ts';
import { polled, startRun, TOKEN } from '../support/running-bridge.ts';
import { type CodeBlock, codeBlocksOf } from './markdown-page.ts';

const HOOK_SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';

type Env = Readonly<Record<string, string>>;

interface Parts {
  readonly t: TestContext;
  readonly blocks: readonly CodeBlock[];
  readonly project: Project;
  readonly azure: SimulatedAzure;
  /** Where this machine's metadata service answers. */
  readonly endpoint: string;
  readonly firstPort: number;
  /** Told to the program besides what the page tells it. */
  readonly env: Env;
  readonly started: Program[];
}

/** One machine with the page's program and bridge on ports of their own. */
export class Example {
  readonly azure: SimulatedAzure;
  /** Of what the program serves. */
  readonly port: number;
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.azure = parts.azure;
    this.port = parts.firstPort;
    this.#parts = parts;
  }

  /** `page` is its name in docs/receive/examples/, without `.md`. */
  static async on(t: TestContext, page: string, env: Env = {}): Promise<Example> {
    const [machine] = await Example.group(t, page, ['web_0'], () => env);
    assert.ok(machine);
    return machine;
  }

  /** Machines that see one document and share the folder of the programs. */
  static async group(
    t: TestContext,
    page: string,
    vms: readonly string[],
    env: (vm: string) => Env,
  ): Promise<Example[]> {
    const azure = await startSimulator({ vms });
    t.after(() => azure.close());
    // Before the project's folder goes, in which they write.
    const started: Program[] = [];
    t.after(() => Promise.all(started.map((program) => program.hasEnded || program.end('SIGKILL'))));
    const blocks = codeBlocksOf(`docs/receive/examples/${page}.md`);
    const project = await Project.withPackage(t);
    for (const { file, text } of filesOf(blocks)) project.write(file, text);
    const first = await freePorts(3 * vms.length);
    const parts = { t, blocks, project, azure, started };
    return azure.urls.map(
      ({ vm, url }, index) => new Example({ ...parts, endpoint: url, firstPort: first + 3 * index, env: env(vm) }),
    );
  }

  get folder(): string {
    return this.#parts.project.folder;
  }

  /** What the page says that its program prints. */
  get promised(): string[] {
    const output = this.#parts.blocks.find(({ language }) => language === 'text');
    return (output?.text ?? '').trimEnd().split('\n');
  }

  /** Starts a program of the page; killed behind the test, if need be. */
  program(file: string, env: Env = {}): Program {
    const { firstPort, started } = this.#parts;
    const ports = {
      PORT: `${firstPort}`,
      HEALTH_PORT: `${firstPort}`,
      HOOK_PORT: `${firstPort + 1}`,
      BRIDGE_URL: this.#bridgeUrl,
    };
    const all = { ...this.#secrets, ...ports, ...this.#parts.env, ...env };
    const program = new Program([], { main: join(this.folder, file), cwd: this.folder, env: all });
    started.push(program);
    return program;
  }

  /** Starts the bridge as the page configures it, on its own ports, with its own store, and at a faster poll. */
  async bridge(): Promise<Program> {
    const { firstPort, endpoint, project, t, blocks, started } = this.#parts;
    const page = filesOf(blocks).find(({ file }) => file === 'bridge.yaml')?.text ?? '';
    const text = page
      .replace('http://127.0.0.1:8080', `${endpoint}\n  pollInterval: 50ms`)
      .replace('http://127.0.0.1:9000/', `http://127.0.0.1:${firstPort + 1}/`)
      .replace('127.0.0.1:8700', new URL(this.#bridgeUrl).host)
      .replace('path: bridge-data', `path: bridge-data-${firstPort}`);
    const file = `bridge-${firstPort}.yaml`;
    project.write(file, text);
    const bridge = await startRun(
      t,
      { config: join(this.folder, file), store: '' },
      { env: this.#secrets, cwd: this.folder },
    );
    started.push(bridge);
    return bridge;
  }

  /** Orders what the page's own curl line orders, with other fields over it. */
  schedule(fields: object = {}): WireEvent {
    const shell = this.#parts.blocks.map(({ language, text }) => (language === 'sh' ? text : '')).join('');
    const [, order] = /-d '(\{.*\})' http:\S+\/simulator\/events$/m.exec(shell) ?? [];
    assert.ok(order, 'the page orders an event');
    return this.azure.schedule({ ...(JSON.parse(order) as object), ...fields });
  }

  /** Resolves once the bridge has handled what is listed now. */
  async seen(): Promise<void> {
    // It asks anew when it has handled the answer before.
    await polled(this.azure);
    await polled(this.azure);
  }

  /** Resolves once the metadata service has taken so many StartRequests for it. */
  async approved({ EventId }: WireEvent, times = 1): Promise<void> {
    await this.azure.until(() => this.azure.approvals().filter((id) => id === EventId).length >= times, {
      timeoutMs: 20_000,
    });
  }

  /** Delivers all news so far once more; resolves once the program has taken it. */
  async repeat(): Promise<void> {
    const { t, blocks, firstPort } = this.#parts;
    const page = filesOf(blocks).find(({ file }) => file === 'bridge.yaml')?.text ?? '';
    const sink = /^sinks:\n {2}(\w+):/m.exec(page)?.[1] ?? '';
    const before = await this.#accepted();
    const args = ['replay', '--sink', sink, '--since', '1h', '--config', `bridge-${firstPort}.yaml`];
    const { stdout, stderr } = await run(t, args, { cwd: this.folder, env: this.#secrets });
    assert.match(stdout, /"queued":[1-9]/, stderr);
    const { queued } = JSON.parse(stdout) as { readonly queued: number };
    await poll(async () => (await this.#accepted()) >= before + queued, `${queued} deliveries more`);
  }

  /** What an approver does at this machine's bridge by hand. */
  async approve({ EventId }: WireEvent): Promise<{ status: number; text: string }> {
    const headers = { authorization: `Bearer ${TOKEN}-by-hand`, 'content-type': 'application/json' };
    const body = JSON.stringify({ StartRequests: [{ EventId }] });
    const response = await fetch(`${this.#bridgeUrl}/v1/approvals`, { method: 'POST', headers, body });
    return { status: response.status, text: await response.text() };
  }

  /** How many deliveries the program has answered well. */
  async #accepted(): Promise<number> {
    const metrics = await (await fetch(`${this.#bridgeUrl}/metrics`)).text();
    return Number(/deliveries_total\{sink="\w+",result="accepted"\} (\d+)/.exec(metrics)?.[1]);
  }

  get #bridgeUrl(): string {
    return `http://127.0.0.1:${this.#parts.firstPort + 2}`;
  }

  /** A value for each variable that the page's configuration names. */
  get #secrets(): Env {
    const text = this.#parts.blocks.map(({ language, text }) => (language === 'yaml' ? text : '')).join('');
    const names = [...text.matchAll(/\{ env: (\w+) \}/g)].map(([, name = '']) => name);
    const secretOf = (name: string) =>
      name === 'HOOK_SECRET' ? HOOK_SECRET : name === 'OPS_TOKEN' ? `${TOKEN}-by-hand` : TOKEN;
    return Object.fromEntries(names.map((name) => [name, secretOf(name)]));
  }
}

/** Resolves once the program has printed this line so often. */
export async function says(program: Program, line: string | RegExp, times = 1): Promise<void> {
  const fits = (each: string) => (typeof line === 'string' ? each === line : line.test(each));
  const holds = () => program.stdout.split('\n').filter(fits).length >= times;
  const said = () => `${program.stdout}${program.stderr}`;
  await poll(() => holds() || program.hasEnded, `"${line}"`).catch((error: Error) =>
    assert.fail(`${error.message}: ${said()}`),
  );
  assert.ok(holds(), `it ended before it said "${line}": ${said()}`);
}

/** All that it has printed, line by line. */
export function linesOf(program: Program): string[] {
  return program.stdout.split('\n').slice(0, -1);
}

/** The blocks that are files: their first line, a comment, names them. */
function filesOf(blocks: readonly CodeBlock[]): { readonly file: string; readonly text: string }[] {
  return blocks.flatMap(({ text }) => {
    const file = /^(?:\/\/|#) ([\w-]+\.(?:js|yaml|service))\n/.exec(text)?.[1];
    return file === undefined ? [] : [{ file, text }];
  });
}
