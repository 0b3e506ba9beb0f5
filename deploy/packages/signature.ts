// SHA256SUMS and the file of a minisign key → SHA256SUMS.minisig.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { join } from 'node:path';

export const SUMS = 'SHA256SUMS';

/**
 * Signs SHA256SUMS of the folder with minisign, which asks on the terminal for the key's password if it has one. The
 * comment replaces minisign's own, which has the time, so that the same key gives the same signature.
 *
 * @throws Error if minisign is not installed, or does not sign
 */
export async function sign(folder: string, key: string, comment: string): Promise<void> {
  await access(key);
  const args = ['-S', '-s', key, '-m', join(folder, SUMS), '-t', comment, '-c', `signature of ${SUMS}`];
  const [code] = await once(spawn('minisign', args, { stdio: ['inherit', 'ignore', 'inherit'] }), 'exit');
  if (code !== 0) throw new Error(`minisign ended with exit code ${code}: ${SUMS} is not signed`);
}
