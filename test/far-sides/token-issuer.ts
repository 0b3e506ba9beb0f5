// A test → an identity provider on loopback: its key set over HTTP, and tokens that it signs.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import {
  type CryptoKey,
  exportJWK,
  type GenerateKeyPairResult,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose';

export const ISSUER = 'https://login.test/tenant/v2.0';
export const AUDIENCE = 'api://bridge';

interface SigningKey {
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

/** By algorithm and place. An RSA key takes 0.1 s to make, so the tests of a process share keys; those of one test differ. */
const made = new Map<string, Promise<GenerateKeyPairResult>>();
const takenBy = new WeakMap<object, number>();

function keyPairFor(test: object, alg: string): Promise<GenerateKeyPairResult> {
  const place = takenBy.get(test) ?? 0;
  takenBy.set(test, place + 1);
  const name = `${alg} ${place}`;
  const pair = made.get(name) ?? generateKeyPair(alg, { extractable: true });
  made.set(name, pair);
  return pair;
}

export class Issuer {
  readonly #test: object;
  readonly #keys = new Map<string, SigningKey>();
  /** What the key set holds, by key id. */
  published: string[] = [];
  /** In place of the key set. */
  misbehave: ((response: ServerResponse) => void) | null = null;
  requests = 0;
  url = '';

  /** Serves nothing before `start`. @param test for issuers whose keys must differ */
  constructor(test: object = {}) {
    this.#test = test;
  }

  /** Serves until the test ends. */
  static async start(t: TestContext): Promise<Issuer> {
    const issuer = new Issuer(t);
    await issuer.addKey('one', 'RS256');
    const server = createServer((_, response) => issuer.#answer(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
    return issuer;
  }

  /** Published from now on. */
  async addKey(kid: string, alg: string): Promise<void> {
    const { privateKey, publicKey } = await keyPairFor(this.#test, alg);
    this.#keys.set(kid, { alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } });
    this.published.push(kid);
  }

  keySet(): string {
    return JSON.stringify({ keys: this.published.map((kid) => this.#key(kid).jwk) });
  }

  /**
   * A good token for `sub: orders`, valid from a minute ago for an hour, unless `claims` say otherwise; undefined
   * leaves a claim out.
   */
  async token(
    nowMs: number,
    claims: Readonly<Record<string, unknown>> = {},
    header: { kid?: string; typ?: string } = {},
  ): Promise<string> {
    const kid = header.kid ?? this.published[0] ?? '';
    const nowSeconds = Math.floor(nowMs / 1000);
    const usual = { iss: ISSUER, aud: AUDIENCE, sub: 'orders', nbf: nowSeconds - 60, exp: nowSeconds + 3600 };
    const payload = Object.fromEntries(
      Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== undefined),
    ) as JWTPayload;
    const { alg, privateKey } = this.#key(kid);
    return await new SignJWT(payload).setProtectedHeader({ alg, ...header, kid }).sign(privateKey);
  }

  /** The public key as the text that a forger may use as a secret. */
  publicJwk(kid: string): JWK {
    return this.#key(kid).jwk;
  }

  #key(kid: string): SigningKey {
    const key = this.#keys.get(kid);
    if (key === undefined) throw new Error(`the issuer has no key ${kid}`);
    return key;
  }

  #answer(response: ServerResponse): void {
    this.requests += 1;
    if (this.misbehave !== null) {
      this.misbehave(response);
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.end(this.keySet());
  }
}
