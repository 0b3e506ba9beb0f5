// What approvers prove themselves by, and what judges it → faults between the two: certificates and http.tls, subjects and approvals.jwt.
import { addressJudge, judgeLiteral } from '../net/private-addresses.ts';
import { tlsFaults } from '../net/tls-options.ts';
import { type Fault, formatPath } from '../schema/faults.ts';
import { isMapping } from '../schema/validate.ts';
import type { Secret } from '../secrets/secret.ts';
import type { ApprovalsSection } from './callers.ts';

type Approvers = ApprovalsSection['approvers'];

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
