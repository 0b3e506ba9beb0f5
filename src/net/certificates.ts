// PEM texts → what no TLS client or server could use of them, or what connections use. Pure.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { codeOf } from '../errors.ts';

/** What each file holds; absent where there is none or it could not be read. */
export interface PemTexts {
  /** Certificates of the authorities that are trusted, one after the other. */
  readonly ca?: string | undefined;
  /** A certificate, perhaps with its chain. */
  readonly cert?: string | undefined;
  /** Its private key. */
  readonly key?: string | undefined;
}

export interface PemFault {
  /** The file's key in the configuration: `http.tls.cert`. */
  readonly key: string;
  /** Without a word of what the file holds. */
  readonly message: string;
}

const MARK = /-----(BEGIN|END) (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/** `at` is the section that the files stand in: `http.tls`. */
export function pemFaults({ ca, cert, key }: PemTexts, at: string): readonly PemFault[] {
  const certificate = cert !== undefined ? readOrNull(() => new X509Certificate(cert)) : undefined;
  const privateKey = key !== undefined ? readOrNull(() => createPrivateKey(key)) : undefined;
  const faults: PemFault[] = [];
  if (ca !== undefined && !holdsCertificates(ca)) faults.push({ key: `${at}.ca`, message: 'is no file with certificates in PEM' });
  if (certificate === null) faults.push({ key: `${at}.cert`, message: 'is no file with a certificate in PEM' });
  if (privateKey === null) faults.push({ key: `${at}.key`, message: privateKeyFault(key ?? '') });
  if (certificate && privateKey && !certificate.checkPrivateKey(privateKey))
    faults.push({ key: `${at}.key`, message: `is not the key of the certificate in ${at}.cert` });
  return faults;
}

/** What connections use of texts without faults, or why it cannot be made: without a word of what they hold. */
export function secureContext(texts: PemTexts): SecureContext | { readonly fault: string } {
  try {
    return process.getBuiltinModule('node:tls').createSecureContext(texts);
  } catch (error) {
    // Only the code: what OpenSSL says of it may quote the key.
    return { fault: `cannot be used (${codeOf(error) ?? 'unreadable'})` };
  }
}

function privateKeyFault(text: string): string {
  return /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(text)
    ? 'is encrypted, and nobody is there to type its passphrase: give the key without one, readable by this program alone'
    : 'is no file with a private key in PEM, without a passphrase';
}

/** OpenSSL would ignore those that it cannot read, and then trust no authority. */
function holdsCertificates(text: string): boolean {
  const blocks = certificatesIn(text);
  return blocks.length > 0 && blocks.every((block) => readOrNull(() => new X509Certificate(block)) !== null);
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

/** Null where it is unreadable; what OpenSSL says of it may quote the key. */
function readOrNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
