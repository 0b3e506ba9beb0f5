// Variables of the environment that name a proxy → what they do not do.
import { type Finding, note } from './finding.ts';

const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];

/** For where something could not be reached. @param env never shown but by names: a proxy's URL may hold a password */
export function proxyFindings(env: Readonly<Record<string, string | undefined>>): readonly Finding[] {
  const set = NAMES.flatMap((name) => [name, name.toLowerCase()]).filter((name) => (env[name] ?? '') !== '');
  if (set.length === 0) return [];
  return [
    note(
      'proxy',
      `${set.join(', ')} ${set.length === 1 ? 'is' : 'are'} set, which the bridge does not read: the metadata service is asked without a proxy, as it ` +
        'has to be, and a sink that is behind one names it by its option "proxy"',
    ),
  ];
}
