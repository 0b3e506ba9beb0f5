// dist/ → the two packages of npm, as `npm run package` makes them, gone with the process.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeConsumerPackage, makeNpmPackage } from '../../deploy/packages/npm-packages.ts';

const folder = mkdtempSync(join(tmpdir(), 'npm-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const parts = (name: string) => {
  const work = join(folder, name);
  const out = join(work, 'out');
  mkdirSync(out, { recursive: true });
  return {
    root: join(import.meta.dirname, '../..'),
    version: '1.2.3',
    work,
    out,
    at: new Date('2026-11-24T00:00:00Z'),
  };
};

/** Returns the path of the bridge's package. */
export const bridgePackage = (): Promise<string> => makeNpmPackage(parts('bridge'));

/** Returns the path of the consumer library's package. */
export const consumerPackage = (): Promise<string> => makeConsumerPackage(parts('consumer'));
