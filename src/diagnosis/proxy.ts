// Proxy variables of the environment → a note that the bridge does not read them.
import { type Finding, note } from './finding.ts';

const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];

/** For a check that could not reach something. @param env only names are shown, because a proxy's URL may contain a password */
export function proxyFindings(env: Readonly<Record<string, string | undefined>>): readonly Finding[] {
  const set = NAMES.flatMap((name) => [name, name.toLowerCase()]).filter((name) => (env[name] ?? '') !== '');
  if (set.length === 0) return [];
  return [
    note(
      'proxy',
      `${set.join(', ')} ${set.length === 1 ? 'is' : 'are'} set, but the bridge does not read ${set.length === 1 ? 'it' : 'them'}: requests to the metadata service ` +
        'must not use a proxy; for a sink behind a proxy, set its option "proxy"',
    ),
  ];
}
