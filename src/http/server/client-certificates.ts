// A TLS connection → what the client's certificate proves: names and dates, if we trust its CA.
import type { PeerCertificate, TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../../auth/caller.ts';

export interface Proof {
  readonly names: ClientCertificate;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Returns null if OpenSSL rejects the certificate as that of a client: chain, time and extended key usage. */
export function proofOf(socket: TLSSocket): Proof | null {
  if (!socket.authorized) return null;
  const certificate = socket.getPeerCertificate();
  const [fromMs, untilMs] = [Date.parse(certificate.valid_from), Date.parse(certificate.valid_to)];
  return Number.isNaN(fromMs) || Number.isNaN(untilMs) ? null : { names: namesOf(certificate), fromMs, untilMs };
}

function namesOf({ subject, subjectaltname }: PeerCertificate): ClientCertificate {
  const alternatives = alternativesOf(subjectaltname ?? '');
  const ofKind = (kind: string) => alternatives.flatMap(([prefix, value]) => (prefix === kind ? [value] : []));
  // Several common names come as a list, and there is no telling which one is meant.
  const commonName: unknown = subject.CN;
  return {
    exact: [
      ...(typeof commonName === 'string' && commonName !== '' ? [commonName] : []),
      ...ofKind('URI'),
      ...ofKind('email'),
    ],
    dns: ofKind('DNS').map((name) => name.toLowerCase()),
  };
}

/**
 * `DNS:a.test, URI:"x, DNS:b.test"`: node writes a value with special characters as a JSON string, so that none can
 * pose as two entries.
 */
function alternativesOf(text: string): [kind: string, value: string][] {
  const entries = text.matchAll(/(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?=, |$)/g);
  return [...entries].flatMap(([, kind = '', value = '']) => {
    const plain = value.startsWith('"') ? unquoted(value) : value;
    return plain === null || plain === '' ? [] : [[kind, plain] satisfies [string, string]];
  });
}

function unquoted(value: string): string | null {
  try {
    return String(JSON.parse(value));
  } catch {
    return null;
  }
}
