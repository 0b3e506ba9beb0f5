// Advisories by package → an npm registry that answers with them, and what it was asked.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** As the bulk endpoint of npm's registry gives them. */
export interface RegistryAdvisory {
  readonly id: number;
  readonly url: string;
  readonly title: string;
  readonly severity: 'info' | 'low' | 'moderate' | 'high' | 'critical';
  readonly vulnerable_versions: string;
  readonly cwe: readonly string[];
  readonly cvss: { readonly score: number; readonly vectorString: string | null };
}

const BULK = '/-/npm/v1/security/advisories/bulk';

/** `POST /-/npm/v1/security/advisories/bulk` as npm asks it; knows no package besides (404). */
export class AdvisoryRegistry implements AsyncDisposable {
  /** By name. A real registry leaves out what concerns none of the versions asked for; npm does so, too. */
  advisories: Readonly<Record<string, readonly RegistryAdvisory[]>> = {};
  /** What the endpoint answers in place of advisories. */
  refusal: { readonly status: number; readonly body: string } | null = null;
  /** Versions by name, one for each request. */
  readonly asked: Readonly<Record<string, readonly string[]>>[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  static async start(): Promise<AdvisoryRegistry> {
    const registry = new AdvisoryRegistry();
    await new Promise<void>((resolve) => registry.#server.listen(0, '127.0.0.1', resolve));
    return registry;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method !== 'POST' || request.url !== BULK) return void response.writeHead(404).end('{}');
    const body = Buffer.concat(chunks);
    const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    const versions = JSON.parse(text.toString()) as Record<string, readonly string[]>;
    this.asked.push(versions);
    if (this.refusal !== null) return void response.writeHead(this.refusal.status).end(this.refusal.body);
    const found = Object.entries(this.advisories).filter(([name]) => name in versions);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(Object.fromEntries(found)));
  }
}
