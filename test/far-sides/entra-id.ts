// A test → on loopback a machine's identity endpoint, and Microsoft Entra ID over TLS.
// The library is told of both by the environment, which is put back when the test ends.
import { createServer as createPlain, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { CERTIFICATE, PRIVATE_KEY } from './certificate.ts';

export interface TokenRequest {
  readonly at: 'identity' | 'entra';
  readonly url: URL;
  /** Of Entra's; empty at the identity endpoint. */
  readonly form: URLSearchParams;
}

/** What the next tokens' requests get; `never` for no answer. */
export type TokenAnswer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> } | 'never';

export class FakeEntra {
  /** For tokens alone. */
  readonly requests: TokenRequest[] = [];
  answer: () => TokenAnswer = () => this.good();
  /** By which tokens end. */
  wallMs: () => number = Date.now;
  #given = 0;

  /** Sets IDENTITY_ENDPOINT and AZURE_AUTHORITY_HOST. */
  static async start(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<FakeEntra> {
    const entra = new FakeEntra();
    const identity = await identityPort(t, (request, response) => entra.#token('identity', request, response));
    const secure = createSecure({ cert: CERTIFICATE, key: PRIVATE_KEY }, (request, response) =>
      entra.#entra(request, response),
    );
    const authority = await listen(secure);
    t.after(() => {
      secure.close();
      secure.closeAllConnections();
    });
    const trusted = getCACertificates();
    setDefaultCACertificates([...trusted, CERTIFICATE]);
    t.after(() => setDefaultCACertificates(trusted));
    const own = { IDENTITY_ENDPOINT: `http://127.0.0.1:${identity}/token`, IDENTITY_HEADER: 'header' };
    setEnvironment(t, { ...own, AZURE_AUTHORITY_HOST: `https://localhost:${authority}/`, ...env });
    return entra;
  }

  /** `token-1`, `token-2` … */
  good(lifetimeS = 3600): TokenAnswer {
    this.#given += 1;
    const body = { access_token: `token-${this.#given}`, token_type: 'Bearer', expires_in: lifetimeS };
    return { status: 200, body: { ...body, expires_on: String(Math.floor(this.wallMs() / 1000) + lifetimeS) } };
  }

  readonly #entra: RequestListener = (request, response) => {
    const origin = `https://${request.headers.host}`;
    if (!request.url?.includes('openid-configuration')) return this.#token('entra', request, response);
    const tenant = `${origin}/tenant`;
    const endpoints = { authorization_endpoint: `${tenant}/oauth2/v2.0/authorize`, jwks_uri: `${tenant}/keys` };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ issuer: `${tenant}/v2.0`, token_endpoint: `${tenant}/oauth2/v2.0/token`, ...endpoints }),
    );
  };

  #token(at: TokenRequest['at'], request: IncomingMessage, response: Parameters<RequestListener>[1]): void {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://any');
      this.requests.push({ at, url, form: new URLSearchParams(body) });
      const answer = this.answer();
      if (answer === 'never') return;
      // Else the next test would find a connection that ended with this one.
      response.writeHead(answer.status, { 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify({ resource: url.searchParams.get('resource') ?? undefined, ...answer.body }));
    });
  }
}

/** For this test alone. */
export function setEnvironment(t: TestContext, values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) {
    const before = process.env[name];
    process.env[name] = value;
    t.after(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
}

let answering: RequestListener = () => {};
const identityServer = createPlain((request, response) => answering(request, response)).unref();
let listening: Promise<number> | undefined;

/**
 * The same for the whole process, since the library never looks at IDENTITY_ENDPOINT again; the last who asked answers.
 */
function identityPort(t: TestContext, answer: RequestListener): Promise<number> {
  answering = answer;
  listening ??= listen(identityServer);
  t.after(() => identityServer.closeAllConnections());
  return listening;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}
