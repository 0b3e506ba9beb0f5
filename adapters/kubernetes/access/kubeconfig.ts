// The text of a kubeconfig → the address and credentials of its current context, or a fault.
import { dirname, resolve } from 'node:path';
import { isObject, type JsonObject } from '../../../src/formats/json-object.ts';
import { parseYaml } from '../../../src/schema/yaml.ts';
import type { Access, AccessSource } from './access.ts';

/** Keys of a kubeconfig that are not supported: part, key, alternative. */
const UNSUPPORTED: readonly (readonly [where: 'cluster' | 'user', key: string, instead: string])[] = [
  ['cluster', 'insecure-skip-tls-verify', 'give certificate-authority'],
  ['cluster', 'proxy-url', 'give an address that needs no proxy'],
  ['user', 'exec', 'the bridge runs no program to get a token: give tokenFile, token or a client certificate'],
  ['user', 'auth-provider', 'give tokenFile, token or a client certificate'],
  ['user', 'username', 'give tokenFile, token or a client certificate'],
  ['user', 'as', 'the bridge does not impersonate: give the rights to the user itself'],
];

/** Each part is a text or the path of a file. */
interface Part {
  readonly text?: string;
  readonly path?: string;
}

interface Read {
  readonly server: URL;
  readonly serverName?: string;
  readonly parts: Readonly<Record<'ca' | 'cert' | 'key' | 'token', Part>>;
}

/** Returns the fault, which quotes nothing of the text, or null. */
export function kubeconfigFault(text: string): string | null {
  try {
    readKubeconfig(text, '.');
    return null;
  } catch (error) {
    return error instanceof KubeconfigFault ? error.message : 'is no kubeconfig';
  }
}

/**
 * Returns the files that it names, and whether each is a secret; none if it cannot be read.
 * @param file its absolute path
 */
export function filesNamedIn(
  file: string,
  text: string,
): readonly { readonly path: string; readonly isSecret: boolean }[] {
  try {
    const { parts } = readKubeconfig(text, dirname(file));
    return Object.entries(parts).flatMap(([part, { path }]) =>
      path === undefined ? [] : [{ path, isSecret: part === 'key' || part === 'token' }],
    );
  } catch {
    return [];
  }
}

/**
 * @param file its absolute path
 * @param text its text when the configuration was read, which names the other files
 */
export function kubeconfigSource(file: string, text: string): AccessSource {
  const named = (of: string) =>
    Object.values(readKubeconfig(of, dirname(file)).parts).flatMap(({ path }) => (path === undefined ? [] : [path]));
  const others = named(text);
  return {
    paths: [file, ...others],
    read: ([current = '', ...texts]) => {
      const { server, serverName, parts } = readKubeconfig(current, dirname(file));
      const textOf = ({ text: own, path }: Part): string | undefined => {
        if (path === undefined) return own;
        const index = others.indexOf(path);
        if (index < 0) throw new KubeconfigFault(`${file} now names other files: reload the configuration`);
        return texts[index];
      };
      const access: Access = {
        server,
        serverName,
        ca: textOf(parts.ca),
        cert: textOf(parts.cert),
        key: textOf(parts.key),
      };
      return { ...access, token: textOf(parts.token)?.trim() };
    },
  };
}

class KubeconfigFault extends Error {}

function readKubeconfig(text: string, folder: string): Read {
  const { value, faults } = parseYaml(text, 'configuration');
  if (faults.length > 0 || !isObject(value))
    throw new KubeconfigFault('is not a kubeconfig: it cannot be read as YAML');
  const context = named(value, 'contexts', value['current-context'], 'context');
  const cluster = named(value, 'clusters', context['cluster'], 'cluster');
  const user = named(value, 'users', context['user'], 'user');
  for (const [where, key, instead] of UNSUPPORTED) {
    const held = (where === 'cluster' ? cluster : user)[key];
    if (held !== undefined && held !== false)
      throw new KubeconfigFault(`has ${key}, which is not supported: ${instead}`);
  }
  const server = URL.parse(String(cluster['server'] ?? ''));
  if (server?.protocol !== 'https:')
    throw new KubeconfigFault('has a cluster with a server that is not an https:// URL');
  const serverName = textIn(cluster, 'tls-server-name');
  const parts = {
    ca: partOf(cluster, 'certificate-authority', folder),
    cert: partOf(user, 'client-certificate', folder),
    key: partOf(user, 'client-key', folder),
    token: tokenOf(user, folder),
  };
  if (
    parts.token.text === undefined &&
    parts.token.path === undefined &&
    parts.cert.text === undefined &&
    parts.cert.path === undefined
  )
    throw new KubeconfigFault('has a user without a token or client certificate');
  return { server, ...(serverName === undefined ? {} : { serverName }), parts };
}

function named(file: JsonObject, list: string, name: unknown, member: string): JsonObject {
  const entries = Array.isArray(file[list]) ? file[list].filter(isObject) : [];
  const found = entries.find((entry) => entry['name'] === name)?.[member];
  if (!isObject(found)) throw new KubeconfigFault(`has no ${member} for its current-context`);
  return found;
}

/** `KEY-data` in Base64 takes precedence over the file in `KEY`, as in kubectl. */
function partOf(entry: JsonObject, key: string, folder: string): Part {
  const data = textIn(entry, `${key}-data`);
  if (data !== undefined) return { text: Buffer.from(data, 'base64').toString('utf8') };
  const path = textIn(entry, key);
  return path === undefined ? {} : { path: resolve(folder, path) };
}

/** The file takes precedence over the text, as in kubectl. */
function tokenOf(user: JsonObject, folder: string): Part {
  const path = textIn(user, 'tokenFile');
  if (path !== undefined) return { path: resolve(folder, path) };
  const text = textIn(user, 'token');
  return text === undefined ? {} : { text };
}

function textIn(entry: JsonObject, key: string): string | undefined {
  const value = entry[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
