// A configuration → the files with certificates that it names, and what uses each.
import { formatPath, type Path } from '../schema/faults.ts';
import { isMapping } from '../schema/validate.ts';
import { Secret } from '../secrets/secret.ts';
import type { Config } from './config.ts';

export interface NamedCertificate {
  /** `listener`: `http` itself, or the credentials of its callers. */
  readonly usedBy: 'listener' | 'sink' | 'source';
  /** The key that names the file: `sinks.hooks.tls.cert`. */
  readonly name: string;
  /** Reveals the content of the file at the time when the configuration was read. */
  readonly secret: Secret;
}

/** Keys of files with certificates. Those of private keys and tokens have other names. */
const KEYS: ReadonlySet<unknown> = new Set(['ca', 'cert', 'clientCa', 'certificate']);

export function namedCertificates({
  http,
  approvals,
  sinks,
}: Pick<Config, 'http' | 'approvals' | 'sinks'>): readonly NamedCertificate[] {
  const { sources, ...callers } = approvals;
  return [
    ...within('listener', { http, approvals: callers }, []),
    ...Object.entries(sinks).flatMap(([name, { options }]) => within('sink', options, ['sinks', name])),
    ...Object.entries(sources).flatMap(([name, { options }]) =>
      within('source', options, ['approvals', 'sources', name]),
    ),
  ];
}

function within(usedBy: NamedCertificate['usedBy'], value: unknown, at: Path): NamedCertificate[] {
  if (value instanceof Secret) {
    const isFile = 'file' in value.reference && KEYS.has(at.at(-1));
    return isFile ? [{ usedBy, name: formatPath(at), secret: value }] : [];
  }
  if (Array.isArray(value)) return value.flatMap((member, index) => within(usedBy, member, [...at, index]));
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => within(usedBy, member, [...at, key]));
}
