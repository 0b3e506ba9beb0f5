// A configuration that fits its schema → faults between its parts.
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

/** `file` is the section as it was written: what of it is at fault itself must not make another fault here. */
export function httpFaults(http: HttpSection, file: unknown): Fault[] {
  const asked = isMapping(file) ? file : {};
  const faults: Fault[] = [];
  if (!isLoopback(http.listen.host) && asked['tls'] === undefined && !http.allowInsecure) {
    faults.push({
      path: 'http.listen',
      message: 'lies beyond loopback, where tokens would pass in clear text: set http.tls, or http.allowInsecure: true',
    });
  }
  const { listen, health } = http;
  if (health && health.port !== 0 && health.port === listen.port && health.host === listen.host) {
    faults.push({
      path: 'http.health',
      message: 'is the address of http.listen, which serves health and metrics already: leave it out or take another port',
    });
  }
  return faults;
}

/** Files that no TLS server could use. Those that could not be opened are left out. */
export function serverTlsFaults({ tls }: HttpSection, opened: ReadonlyMap<Secret, string>): Fault[] {
  const [cert, key, ca] = tls ? [opened.get(tls.cert), opened.get(tls.key), tls.clientCa && opened.get(tls.clientCa)] : [];
  return pemFaults({ cert, key, ca: ca ?? undefined }, 'http.tls').map(({ key: path, message }) => ({
    path: path.replace(/\.ca$/, '.clientCa'),
    message,
  }));
}

/** Quorums that can never be full: of all approvals, and of single rules of the policy. `file` is the section as it was written. */
export function quorumFaults({ required, policy }: ApprovalsSection, file: unknown): Fault[] {
  const approvers = isMapping(file) && isMapping(file['approvers']) ? Object.keys(file['approvers']) : [];
  const rules = Array.isArray(policy) ? policy : [];
  return [
    ...unfillable(required, ['approvals', 'required'], approvers),
    ...rules.flatMap((rule, index) => unfillable(rule.required ?? 'any', ['approvals', 'policy', index, 'required'], approvers)),
  ];
}

function unfillable(required: ApprovalsSection['required'], at: Path, approvers: readonly string[]): Fault[] {
  if (typeof required === 'number' && required > approvers.length) {
    return [{ path: formatPath(at), message: `asks for more approvers than there are (${approvers.length} in approvals.approvers)` }];
  }
  if (!Array.isArray(required)) return [];
  return required.flatMap((name, index) => {
    if (approvers.includes(name)) return [];
    const suggestion = nearest(name, approvers);
    const message = 'is none of the names in approvals.approvers';
    return [{ path: formatPath([...at, index]), message, ...(suggestion === undefined ? {} : { suggestion }) }];
  });
}

/** Rules of the policy behind one that matches every event. */
export function unreachableRules({ policy }: ApprovalsSection): Fault[] {
  const rules = Array.isArray(policy) ? policy : [];
  const catchAll = rules.findIndex(({ when }) => eventMatchers(when, 'any').length === 0);
  if (catchAll === -1) return [];
  return rules.slice(catchAll + 1).map((_, index) => ({
    path: formatPath(['approvals', 'policy', catchAll + 1 + index]),
    message: `is never reached, as approvals.policy[${catchAll}] matches every event: put it before that one, or leave it out`,
  }));
}

interface Caller {
  readonly at: Path;
  readonly path: Path;
  readonly token: string;
}

/** Tokens too easy to guess, that no request could carry, or that two callers share. Secrets that could not be opened are left out. */
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
    const unfit = tokenFault(token);
    if (unfit !== null) return fault(unfit);
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

/** `file` is the whole configuration as it was written: what of it is at fault itself must not make another fault here. */
export function proofFaults(
  { approvers, jwt }: ApprovalsSection,
  file: Readonly<Record<string, unknown>>,
  opened: ReadonlyMap<Secret, string>,
) {
  const hasClientCa = inFile(file, ['http', 'tls', 'clientCa']) !== undefined;
  const hasJwt = inFile(file, ['approvals', 'jwt']) !== undefined;
  const faults: Fault[] = [
    ...proofs(approvers, 'certificate', hasClientCa, 'needs http.tls with clientCa, the authorities that sign such certificates'),
    ...proofs(approvers, 'subject', hasJwt, 'needs approvals.jwt, which says whose tokens are taken'),
  ];
  if (jwt === null) return faults;
  if (!Object.values(approvers).some(({ subject }) => subject !== null)) {
    const message = 'lets nobody approve: give each approver who has such a token a subject, the text that stands in its claim';
    faults.push({ path: 'approvals.jwt', message });
  }
  return [...faults, ...keySetFaults(jwt, opened)];
}

/** Names that nothing would judge, and those that two approvers share. */
function proofs(approvers: Approvers, key: 'certificate' | 'subject', isJudged: boolean, unjudged: string): Fault[] {
  const owners = new Map<string, string>();
  return Object.entries(approvers).flatMap(([name, { [key]: proof }]) => {
    if (proof === null) return [];
    const path = formatPath(['approvals', 'approvers', name, key]);
    if (!isJudged) return [{ path, message: unjudged }];
    // DNS names of certificates are compared without case.
    const compared = key === 'certificate' ? proof.toLowerCase() : proof;
    const owner = owners.get(compared);
    owners.set(compared, owner ?? name);
    if (owner === undefined) return [];
    return [{ path, message: `is the same as ${formatPath(['approvals', 'approvers', owner, key])}: each approver needs its own` }];
  });
}

function keySetFaults({ jwks, tls, allowPrivate }: NonNullable<ApprovalsSection['jwt']>, opened: ReadonlyMap<Secret, string>): Fault[] {
  const at = 'approvals.jwt.jwks';
  const isOpen = tls !== null && [tls.ca, tls.cert, tls.key].every((file) => file === undefined || opened.has(file));
  const faults: Fault[] = isOpen ? tlsFaults(tls, 'approvals.jwt.tls').map(({ key: path, message }) => ({ path, message })) : [];
  if (typeof jwks !== 'string') {
    const text = opened.get(jwks);
    return text === undefined || isKeySet(text)
      ? faults
      : [...faults, { path: at, message: 'is no file with a key set in JSON: { "keys": [ … ] }' }];
  }
  const verdict = judgeLiteral(new URL(jwks), addressJudge(allowPrivate));
  if (verdict === 'metadata') faults.push({ path: at, message: 'is an address of the metadata service, which has no key set: correct it' });
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
