// A TLS connection → the names in a client certificate that is signed by our authority.
import type { Socket } from 'node:net';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../../auth/caller.ts';
import type { Deps } from '../../time/clock.ts';

interface Proof {
  readonly names: ClientCertificate;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** One for each listener. What TLS found at the handshake counts as long as the same authorities are trusted. */
export class ClientCertificates {
  readonly #deps: Pick<Deps, 'wallMs'>;
  /** By connection; null: not valid. Emptied when the trusted authorities change. */
  #proofs = new WeakMap<Socket, Proof | null>();

  constructor(deps: Pick<Deps, 'wallMs'>) {
    this.#deps = deps;
  }

  /** After the handshake, whose verdict it keeps. */
  met(socket: TLSSocket): void {
    this.#proofs.set(socket, proofOf(socket));
  }

  /** Other authorities are trusted now: what connections proved before no longer counts. */
  forget(): void {
    this.#proofs = new WeakMap();
  }

  /** The connection is from before `forget`: the client has to connect again to prove anything. */
  isForgotten(socket: Socket): boolean {
    return !this.#proofs.has(socket);
  }

  /** Null for a certificate that is not valid, or no longer. */
  of(socket: Socket): ClientCertificate | null {
    const proof = this.#proofs.get(socket) ?? null;
    const nowMs = this.#deps.wallMs();
    return proof !== null && nowMs >= proof.fromMs && nowMs <= proof.untilMs ? proof.names : null;
  }
}

/** `authorized` is OpenSSL's verdict with the purpose of a client: chain, time and extended key usage. */
function proofOf(socket: TLSSocket): Proof | null {
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
    exact: [...(typeof commonName === 'string' && commonName !== '' ? [commonName] : []), ...ofKind('URI'), ...ofKind('email')],
    dns: ofKind('DNS').map((name) => name.toLowerCase()),
  };
}

/** `DNS:a.test, URI:"x, DNS:b.test"`: node writes a value with special characters as a JSON string, so that none can pose as two entries. */
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
