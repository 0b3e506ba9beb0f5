// A file with certificates → which of them expires first, read again when the file changes.
import type { Secret } from '../secrets/secret.ts';
import { type FileText, WatchedFile } from '../secrets/watched-file.ts';
import type { Deps } from '../time/clock.ts';
import { type CertificateExpiry, firstToExpire } from './certificates.ts';

/**
 * Returns the expiry of the file as it is now, at most a second old; null if it had no certificate when the
 * configuration was read. While the file is unusable, the last usable content counts, because it stays in use.
 * @param secret must be open
 */
export function certificateFile(secret: Secret, deps: Pick<Deps, 'elapsedMs'>): () => CertificateExpiry | null {
  const parts = {
    initial: () => firstToExpire(secret.reveal()),
    parse: ([file]: readonly FileText[]) => {
      const expiry = file !== undefined && 'text' in file ? firstToExpire(file.text) : null;
      if (expiry === null) throw new Error('the file has no certificate');
      return expiry;
    },
    // The part that uses the file logs both.
    onChanged: () => {},
    onUnusable: () => {},
  };
  const file = new WatchedFile<CertificateExpiry | null>(secret.file === null ? [] : [secret.file], parts, deps);
  return () => file.current();
}
