// A key set's URL → its text, within 5 s: allowed addresses only, no redirect, no proxy.
import { isIP } from 'node:net';
import type { SecureContext } from 'node:tls';
import { BridgeError, codeOf, messageOf } from '../errors.ts';
import { type HttpRequest, hostOf, readBody, sendRequest, serverNameOf } from '../net/http-exchange.ts';
import { isUnreachableFault, unreachableWords } from '../net/network-codes.ts';
import { type AddressGuard, addressJudge, checkedLookup, checkLiteral } from '../net/private-addresses.ts';
import { type TlsWords, tlsAdvice } from '../net/tls-advice.ts';
import { type Deps, deadline } from '../time/clock.ts';

const TIMEOUT_MS = 5000;
const LARGEST_BYTES = 1024 * 1024;
const HEADERS = {
  accept: 'application/jwk-set+json, application/json',
  'accept-encoding': 'identity',
  'user-agent': 'scheduled-events-bridge',
};
const WORDS: TlsWords = { target: 'approvals.jwt.jwks', section: 'approvals.jwt.tls', plain: 'the url is http://' };

interface KeySetTarget {
  readonly url: URL;
  readonly allowPrivate: readonly string[];
  /** Verifies the server. Null: the machine's trusted CAs. @throws BridgeError */
  readonly trust: () => SecureContext | null;
  /** Replaces the host of the URL for TLS. */
  readonly serverName: string | null;
}

/** Returns the text of the key set. @throws BridgeError BRIDGE_JWT_KEYS or BRIDGE_JWT_FORBIDDEN_ADDRESS */
export async function requestKeySet(target: KeySetTarget, deps: Pick<Deps, 'after'>): Promise<string> {
  const who = `the key set of approvals.jwt at ${target.url.origin}`;
  const limit = deadline(deps, TIMEOUT_MS, () =>
    keysFault(`${who} did not arrive within 5s: check the network between`),
  );
  try {
    return await keySetOf(target, who, limit.signal);
  } catch (error) {
    throw networkFault(error, who);
  } finally {
    limit.cancel();
  }
}

async function keySetOf(
  { url, allowPrivate, trust, serverName }: KeySetTarget,
  who: string,
  signal: AbortSignal,
): Promise<string> {
  const guard = guardOf(allowPrivate, who);
  const host = hostOf(url);
  checkLiteral(guard, host);
  const context = url.protocol === 'https:' ? trust() : null;
  // NODE_TLS_REJECT_UNAUTHORIZED must not turn verification off.
  const tls = {
    rejectUnauthorized: true,
    servername: serverName ?? serverNameOf(host),
    ...(context && { secureContext: context }),
  };
  const request: HttpRequest = { method: 'GET', url, headers: HEADERS, lookup: checkedLookup(guard), tls };
  return await sendRequest(request, signal, async (incoming) => {
    const { statusCode } = incoming;
    if (statusCode !== 200)
      throw keysFault(
        `${who} answered ${statusCode} instead of 200: correct approvals.jwt.jwks; the bridge follows no redirect`,
      );
    const body = await readBody(incoming, LARGEST_BYTES);
    if (body === null) throw keysFault(`${who} is longer than 1 MiB: correct approvals.jwt.jwks`);
    return body.toString('utf8');
  });
}

function guardOf(allowPrivate: readonly string[], who: string): AddressGuard {
  const judge = addressJudge(allowPrivate);
  const forbidden = (address: string) => {
    const isNever = isIP(address) !== 0 && judge(address) === 'metadata';
    const advice = isNever
      ? 'an address of the metadata service, which has no key set: correct approvals.jwt.jwks'
      : 'not a public address: correct approvals.jwt.jwks, or list the range in approvals.jwt.allowPrivate if you trust it';
    return new BridgeError('BRIDGE_JWT_FORBIDDEN_ADDRESS', `${who} is not fetched: it is ${address}, ${advice}`);
  };
  return { isAllowed: (address) => judge(address) === 'allowed', forbidden };
}

function networkFault(error: unknown, who: string): BridgeError {
  if (error instanceof BridgeError) return error;
  const code = codeOf(error);
  const said = code ?? messageOf(error);
  const advice = code && tlsAdvice(code, WORDS);
  if (advice) return keysFault(`${who} ${advice} (${said})`);
  if (code && isUnreachableFault(code))
    return keysFault(`${who} ${unreachableWords(code, error, 'check that it is running, its name and the firewall')}`);
  return keysFault(`${who} broke off (${said}): check its server`);
}

/** Creates the error for a key set that cannot be used. */
export function keysFault(message: string): BridgeError {
  return new BridgeError('BRIDGE_JWT_KEYS', message);
}
