// Sections that fit their schemas → faults that involve more than one key.
import { eventMatchers } from '../conditions/matchers.ts';
import { pemFaults } from '../net/certificates.ts';
import { addressJudge, isLoopback, judgeLiteral } from '../net/private-addresses.ts';
import { tlsFaults } from '../net/tls-options.ts';
import { type Fault, formatPath, nearest, type Path } from '../schema/faults.ts';
import { isMapping } from '../schema/validate.ts';
import { tokenFault } from '../secrets/bearer-token.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Sections } from './sections.ts';

type ApprovalsSection = Sections['approvals'];
type HttpSection = Sections['http'];
type Approvers = ApprovalsSection['approvers'];

/** @param file the section as written, so that an invalid key is not reported a second time */
export function httpFaults(http: HttpSection, file: unknown): Fault[] {
  const written = isMapping(file) ? file : {};
  const faults: Fault[] = [];
  if (!isLoopback(http.listen.host) && written['tls'] === undefined && !http.allowInsecure) {
    faults.push({
      path: 'http.listen',
      message:
        'is not a loopback address, so tokens would be sent in clear text: set http.tls, or http.allowInsecure: true',
    });
  }
  const { listen, health } = http;
  if (health && health.port !== 0 && health.port === listen.port && health.host === listen.host) {
    faults.push({
      path: 'http.health',
      message:
        'is the address of http.listen, which already serves health and metrics: leave it out or use another port',
    });
  }
  return faults;
}

/** Faults of files that a TLS server cannot use, except unreadable ones, which are reported elsewhere. */
export function serverTlsFaults({ tls }: HttpSection, opened: ReadonlyMap<Secret, string>): Fault[] {
  const [cert, key, ca] = tls
    ? [opened.get(tls.cert), opened.get(tls.key), tls.clientCa && opened.get(tls.clientCa)]
    : [];
  return pemFaults({ cert, key, ca: ca ?? undefined }, 'http.tls').map(({ key: path, message }) => ({
    path: path.replace(/\.ca$/, '.clientCa'),
    message,
  }));
}

/** Quorums that can never be full, of all approvals and of rules of the policy. @param file the section as written */
export function quorumFaults({ required, policy }: ApprovalsSection, file: unknown): Fault[] {
  const approvers = isMapping(file) && isMapping(file['approvers']) ? Object.keys(file['approvers']) : [];
  const rules = Array.isArray(policy) ? policy : [];
  return [
    ...unfillable(required, ['approvals', 'required'], approvers),
    ...rules.flatMap((rule, index) =>
      unfillable(rule.required ?? 'any', ['approvals', 'policy', index, 'required'], approvers),
    ),
  ];
}

function unfillable(required: ApprovalsSection['required'], at: Path, approvers: readonly string[]): Fault[] {
  if (typeof required === 'number' && required > approvers.length) {
    return [
      {
        path: formatPath(at),
        message: `needs more approvers than are configured (${approvers.length} in approvals.approvers)`,
      },
    ];
  }
  if (!Array.isArray(required)) return [];
  return required.flatMap((name, index) => {
    if (approvers.includes(name)) return [];
    const suggestion = nearest(name, approvers);
    const message = 'is not a name in approvals.approvers';
    return [{ path: formatPath([...at, index]), message, ...(suggestion === undefined ? {} : { suggestion }) }];
  });
}

/** Rules of the policy after one that matches every event. */
export function unreachableRules({ policy }: ApprovalsSection): Fault[] {
  const rules = Array.isArray(policy) ? policy : [];
  const catchAll = rules.findIndex(({ when }) => eventMatchers(when, 'any').length === 0);
  if (catchAll === -1) return [];
  return rules.slice(catchAll + 1).map((_, index) => ({
    path: formatPath(['approvals', 'policy', catchAll + 1 + index]),
    message: `is never used, because approvals.policy[${catchAll}] matches every event: put it before that rule, or remove it`,
  }));
}

interface Caller {
  readonly at: Path;
  readonly path: Path;
  readonly token: string;
}

/** Tokens that are too easy to guess, that no request can send, or that two callers share, except unresolved ones. */
export function callerTokenFaults(
  sections: { approvals?: ApprovalsSection; http?: HttpSection },
  opened: ReadonlyMap<Secret, string>,
): Fault[] {
  const callers = [
    ...callersOf(['approvals', 'approvers'], sections.approvals?.approvers ?? {}, opened),
    ...callersOf(['http', 'readers'], sections.http?.readers ?? {}, opened),
  ];
  return callers.flatMap(({ at, path, token }, index) => {
    const fault = (message: string) => [{ path: formatPath(path), message }];
    const other = callers.slice(0, index).find((earlier) => earlier.token === token && earlier.at !== at);
    const invalid = tokenFault(token);
    if (invalid !== null) return fault(invalid);
    return other ? fault(`is the same token as ${formatPath(other.path)}: each caller needs its own`) : [];
  });
}

function callersOf(section: Path, callers: HttpSection['readers'], opened: ReadonlyMap<Secret, string>): Caller[] {
  return Object.entries(callers).flatMap(([name, { tokens, listed }]) => {
    const at = [...section, name];
    return tokens.flatMap((secret, index) => {
      const token = opened.get(secret);
      return token === undefined ? [] : [{ at, path: [...at, ...(listed ? ['tokens', index] : ['token'])], token }];
    });
  });
}

/** @param file the whole configuration as written, so that an invalid key is not reported a second time */
export function proofFaults(
  { approvers, jwt }: ApprovalsSection,
  file: Readonly<Record<string, unknown>>,
  opened: ReadonlyMap<Secret, string>,
) {
  const hasClientCa = inFile(file, ['http', 'tls', 'clientCa']) !== undefined;
  const hasJwt = inFile(file, ['approvals', 'jwt']) !== undefined;
  const faults: Fault[] = [
    ...proofs(
      approvers,
      'certificate',
      hasClientCa,
      'needs http.tls.clientCa: the authorities that sign client certificates',
    ),
    ...proofs(approvers, 'subject', hasJwt, 'needs approvals.jwt: the issuer of accepted tokens'),
  ];
  if (jwt === null) return faults;
  if (!Object.values(approvers).some(({ subject }) => subject !== null)) {
    const message =
      'has no effect without approvers that use it: give each of them a subject, the value of the claim in their tokens';
    faults.push({ path: 'approvals.jwt', message });
  }
  return [...faults, ...keySetFaults(jwt, opened)];
}

/** Names that nothing verifies, and names that two approvers share. */
function proofs(
  approvers: Approvers,
  key: 'certificate' | 'subject',
  isVerified: boolean,
  unverified: string,
): Fault[] {
  const owners = new Map<string, string>();
  return Object.entries(approvers).flatMap(([name, { [key]: proof }]) => {
    if (proof === null) return [];
    const path = formatPath(['approvals', 'approvers', name, key]);
    if (!isVerified) return [{ path, message: unverified }];
    // DNS names of certificates are compared without case.
    const compared = key === 'certificate' ? proof.toLowerCase() : proof;
    const owner = owners.get(compared);
    owners.set(compared, owner ?? name);
    if (owner === undefined) return [];
    return [
      {
        path,
        message: `is the same as ${formatPath(['approvals', 'approvers', owner, key])}: each approver needs its own`,
      },
    ];
  });
}

function keySetFaults(
  { jwks, tls, allowPrivate }: NonNullable<ApprovalsSection['jwt']>,
  opened: ReadonlyMap<Secret, string>,
): Fault[] {
  const at = 'approvals.jwt.jwks';
  const isOpen = tls !== null && [tls.ca, tls.cert, tls.key].every((file) => file === undefined || opened.has(file));
  const faults: Fault[] = isOpen
    ? tlsFaults(tls, 'approvals.jwt.tls').map(({ key: path, message }) => ({ path, message }))
    : [];
  if (typeof jwks !== 'string') {
    const text = opened.get(jwks);
    return text === undefined || isKeySet(text)
      ? faults
      : [...faults, { path: at, message: 'is not a file with a key set in JSON: { "keys": [ … ] }' }];
  }
  const verdict = judgeLiteral(new URL(jwks), addressJudge(allowPrivate));
  if (verdict === 'metadata')
    faults.push({ path: at, message: 'is an address of the metadata service, which has no key set: correct it' });
  if (verdict === 'private')
    faults.push({
      path: at,
      message: 'is not a public address: correct it, or list the range in approvals.jwt.allowPrivate if you trust it',
    });
  return faults;
}

function isKeySet(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return isMapping(value) && Array.isArray(value['keys']) && value['keys'].length > 0;
  } catch {
    return false;
  }
}

function inFile(file: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isMapping(value) ? value[key] : undefined), file);
}
