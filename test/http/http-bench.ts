// Fake ports behind a real HTTP server on loopback, and a client that sends what a test says: for tests of routes and limits.
import http from 'node:http';
import https from 'node:https';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { type ApprovalReply, bridgeRoutes } from '../../src/http/bridge-routes.ts';
import { healthRoutes, type Readiness } from '../../src/http/health-routes.ts';
import { createHttpServer, type HttpServerParts } from '../../src/http/server.ts';
import { systemDeps } from '../../src/system.ts';
import { VirtualTime } from '../support/virtual-time.ts';

export const APPROVER = 'orders-token-0001';
export const READER = 'grafana-token-001';
const CALLERS: Readonly<Record<string, { readonly kind: 'approver' | 'reader'; readonly name: string }>> = {
  [APPROVER]: { kind: 'approver', name: 'orders' },
  [READER]: { kind: 'reader', name: 'grafana' },
};

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The body's JSON. */
  readonly json: Readonly<Record<string, unknown>>;
}

export class HttpBench {
  readonly time = new VirtualTime();
  readonly asked: { readonly approver: string; readonly body: unknown }[] = [];
  answer: () => Promise<ApprovalReply> = async () => ({ kind: 'results', status: 200, results: [{ eventId: 'A', state: 'submitted' }] });
  configured = true;
  readiness: () => Readiness = () => ({ ready: true, reasons: [], details: {} });
  readonly log: string[] = [];
  port = 0;
  readonly #isTls: boolean;

  constructor(isTls = false) {
    this.#isTls = isTls;
  }

  parts(settings: { requireToken?: boolean } = {}): HttpServerParts {
    const configured = () => this.configured;
    const approvals = {
      get configured() {
        return configured();
      },
      request: (approver: string, body: unknown) => {
        this.asked.push({ approver, body });
        return this.answer();
      },
    };
    const health = healthRoutes({
      readiness: () => this.readiness(),
      metrics: async () => ({ contentType: 'text/plain; version=0.0.4', body: 'scheduled_events_bridge_polls_total 7\n' }),
    });
    const routes = bridgeRoutes(
      { approvals, events: () => ({ state: 'watching', documentIncarnation: 3, observedAt: '2026-01-01T00:00:00Z', events: [] }) },
      { authenticate: (token) => CALLERS[token] ?? null, requireToken: settings.requireToken ?? false, host: '127.0.0.1', deps: this.time },
    );
    return {
      ...{ setting: 'http.listen', listen: { host: '127.0.0.1', port: 0 }, tls: null, routes: [...health, ...routes], deps: systemDeps() },
      logger: pino({ level: 'trace' }, { write: (line: string) => this.log.push(line) }),
    };
  }

  async start(t: TestContext, parts: HttpServerParts): Promise<void> {
    const server = createHttpServer(parts);
    t.after(() => server[Symbol.asyncDispose]());
    this.port = (await server.start()).port;
  }

  send(
    method: string,
    path: string,
    options: { headers?: http.OutgoingHttpHeaders; body?: string | Buffer; agent?: http.Agent } = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { headers = {}, body, agent } = options;
      const tls = { rejectUnauthorized: false };
      const target = { ...tls, host: '127.0.0.1', port: this.port, method, path, headers, agent: agent ?? false };
      const request = (this.#isTls ? https : http).request(target, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part) => parts.push(part));
        response.on('end', () => {
          const text = Buffer.concat(parts).toString();
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: text.startsWith('{') ? JSON.parse(text) : {},
          });
        });
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  /** A POST to /v1/approvals by an approver, unless `headers` say otherwise. */
  approve(body: string | Buffer = '{"StartRequests":[{"EventId":"A"}]}', headers: http.OutgoingHttpHeaders = {}): Promise<Answer> {
    const usual = { authorization: `Bearer ${APPROVER}`, 'content-type': 'application/json' };
    return this.send('POST', '/v1/approvals', { headers: { ...usual, ...headers }, body });
  }
}

/** A bench that serves plain HTTP. */
export async function serve(t: TestContext, settings: { requireToken?: boolean } = {}): Promise<HttpBench> {
  const bench = new HttpBench();
  await bench.start(t, bench.parts(settings));
  return bench;
}
