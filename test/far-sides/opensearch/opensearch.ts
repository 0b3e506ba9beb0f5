// A test → the real OpenSearch, one node on loopback, gone with the test's process.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { poll } from '../../support/poll.ts';
import { PortBlock } from '../kafka/ports.ts';
import { MavenJars } from '../maven-jars.ts';

const START_WITHIN_MS = 90_000;
const jars = new MavenJars({ name: 'OpenSearch', pom: join(import.meta.dirname, 'pom.xml'), leastJava: 21 });

/** For the `skip` of a test: false, or the reason. @throws instead with REQUIRE_OPENSEARCH, as in CI */
export function noOpenSearch(): string | false {
  const reason = jars.missing();
  if (!process.env['REQUIRE_OPENSEARCH'])
    return reason || 'set REQUIRE_OPENSEARCH=1 to run OpenSearch, which takes half a minute';
  if (reason) throw new Error(`${reason}; REQUIRE_OPENSEARCH is set`);
  return false;
}

export interface Found {
  readonly _id: string;
  readonly _source: Readonly<Record<string, unknown>>;
}

export class OpenSearch implements AsyncDisposable {
  readonly url: string;
  readonly #folder: string;
  readonly #ports: PortBlock;
  #process: ChildProcess | undefined;

  private constructor(folder: string, ports: PortBlock) {
    this.#folder = folder;
    this.#ports = ports;
    this.url = `http://127.0.0.1:${ports.port(0)}`;
  }

  /** It answers. */
  static async start(): Promise<OpenSearch> {
    const node = new OpenSearch(mkdtempSync(join(tmpdir(), 'bridge-opensearch-')), await PortBlock.claim());
    await node.launch();
    return node;
  }

  /** For the first time or again, on the same port and data. @throws with the end of its log */
  async launch(): Promise<void> {
    const small = ['-Xms256m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
    const words = [
      join(import.meta.dirname, 'StartNode.java'),
      this.#folder,
      String(this.#ports.port(0)),
      String(this.#ports.port(1)),
    ];
    const log = openSync(this.#log, 'a');
    this.#process = spawn(jars.java(), [...small, '-cp', await jars.classPath(), ...words], {
      stdio: ['pipe', log, log],
    });
    closeSync(log);
    const node = this.#process;
    const isReady = async () => {
      if (node.exitCode !== null) throw new Error('it ended');
      return await fetch(this.url).then(
        ({ ok }) => ok,
        () => new Promise<boolean>((resolve) => setTimeout(resolve, 100, false)),
      );
    };
    await poll(isReady, 'OpenSearch', START_WITHIN_MS).catch((error: unknown) => {
      throw new Error(
        `OpenSearch did not start: ${String(error)}; its log:\n${readFileSync(this.#log, 'utf8').slice(-4000)}`,
      );
    });
  }

  /** At once, as kill -9 does. */
  async kill(): Promise<void> {
    const node = this.#process;
    if (!node) return;
    this.#process = undefined;
    const ended = once(node, 'exit');
    node.kill('SIGKILL');
    await ended;
  }

  /** A request of its interface. @throws where it is answered otherwise than with a success */
  async ask(method: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${this.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Readonly<Record<string, unknown>>;
  }

  /** All documents that a query finds, up to 1000, in the order of their times. */
  async search(index: string, query: object): Promise<readonly Found[]> {
    await this.ask('POST', `/${index}/_refresh`);
    const found = await this.ask('POST', `/${index}/_search`, { query, size: 1000, sort: ['@timestamp'] });
    return (found['hits'] as { readonly hits: readonly Found[] }).hits;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    this.#ports[Symbol.dispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #log(): string {
    return join(this.#folder, 'node.log');
  }
}
