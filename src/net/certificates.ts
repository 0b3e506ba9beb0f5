// PEM texts → their faults, the secure context for connections, or when they expire. Pure.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { codeOf } from '../errors.ts';

/** The content of each file; absent if there is no such file or it could not be read. */
export interface PemTexts {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

interface PemFault {
  /** The file's key in the configuration: `http.tls.cert`. */
  readonly key: string;
  /** Never quotes the content of the file. */
  readonly message: string;
}

const MARK = /-----(BEGIN|END) (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/** Returns the faults of the texts. @param at the section with the files: `http.tls` */
export function pemFaults({ ca, cert, key }: PemTexts, at: string): readonly PemFault[] {
  const certificate = cert !== undefined ? readOrNull(() => new X509Certificate(cert)) : undefined;
  const privateKey = key !== undefined ? readOrNull(() => createPrivateKey(key)) : undefined;
  const faults: PemFault[] = [];
  if (ca !== undefined && !holdsCertificates(ca))
    faults.push({ key: `${at}.ca`, message: 'is not a file with certificates in PEM format' });
  if (certificate === null)
    faults.push({ key: `${at}.cert`, message: 'is not a file with a certificate in PEM format' });
  if (privateKey === null) faults.push({ key: `${at}.key`, message: privateKeyFault(key ?? '') });
  if (certificate && privateKey && !certificate.checkPrivateKey(privateKey))
    faults.push({ key: `${at}.key`, message: `is not the key of the certificate in ${at}.cert` });
  return faults;
}

/** Returns the secure context for texts without faults, or why OpenSSL rejects them. Never quotes their content. */
export function secureContext(texts: PemTexts): SecureContext | { readonly fault: string } {
  try {
    return process.getBuiltinModule('node:tls').createSecureContext(texts);
  } catch (error) {
    // Only the code: OpenSSL's message may quote the key.
    return { fault: `cannot be used (${codeOf(error) ?? 'unreadable'})` };
  }
}

function privateKeyFault(text: string): string {
  return /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(text)
    ? 'is encrypted, and the bridge cannot ask for the passphrase: use a key without one, readable only by the bridge'
    : 'is not a file with a private key in PEM format, without a passphrase';
}

/** OpenSSL would ignore unreadable certificates, and then trust no CA. */
function holdsCertificates(text: string): boolean {
  const blocks = certificatesIn(text);
  return blocks.length > 0 && blocks.every((block) => readOrNull(() => new X509Certificate(block)) !== null);
}

/** A certificate, and when it stops being valid. */
export interface CertificateExpiry {
  /** Its distinguished name on one line, often empty. It may contain any character. */
  readonly subject: string;
  readonly expiresAtMs: number;
}

/**
 * Returns the certificate of the text that expires first; null without one. Of certificates with the same subject, only
 * the one that expires last counts: a renewed authority often stands next to the old one.
 */
export function firstToExpire(pem: string): CertificateExpiry | null {
  const lastBySubject = new Map<string, number>();
  for (const block of certificatesIn(pem)) {
    const certificate = readOrNull(() => new X509Certificate(block));
    if (certificate === null) continue;
    const subject = certificate.subject?.replaceAll('\n', ', ') ?? '';
    lastBySubject.set(subject, Math.max(lastBySubject.get(subject) ?? 0, certificate.validToDate.getTime()));
  }
  const [first] = [...lastBySubject].sort(([, a], [, b]) => a - b);
  return first === undefined ? null : { subject: first[0], expiresAtMs: first[1] };
}

/** From each first mark of a beginning to the next mark of an end. */
function certificatesIn(text: string): readonly string[] {
  const blocks: string[] = [];
  let begin: number | null = null;
  for (const { 0: mark, 1: kind, index } of text.matchAll(MARK)) {
    if (kind === 'BEGIN') begin ??= index;
    else if (begin !== null) {
      blocks.push(text.slice(begin, index + mark.length));
      begin = null;
    }
  }
  return blocks;
}

/** Returns null if the text is unreadable. The error is dropped, because OpenSSL's message may quote the key. */
function readOrNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
