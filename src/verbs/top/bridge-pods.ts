// A label selector → the addresses of the bridges' pods, by the API of Kubernetes.
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ApiAnswer, ApiClient, type ApiOptions } from '../../../adapters/kubernetes/api/api-client.ts';
import { BridgeError } from '../../errors.ts';
import { type JsonObject, objectOf, stringOf } from '../../formats/json-object.ts';
import { urlHost } from '../../formats/url-host.ts';
import { fileReadFault, readRegularFile } from '../../secrets/regular-file.ts';
import { Secret } from '../../secrets/secret.ts';
import { usageError, type VerbContext } from '../verb.ts';
import { addressOf, type WatchedAddress } from './watched-address.ts';

const TIMEOUT_MS = 10_000;
const PAGE = 250;
/** The default port of `http.listen`. */
const DEFAULT_PORT = 8700;
const ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';
/** The errors of the client are about a sink of this name. */
const NAME = 'top';

/** @returns finds the pods now: rejects with BridgeError BRIDGE_KUBERNETES_* if the API server does not list them */
export function findPods(
  context: VerbContext,
  selector: string,
): (signal: AbortSignal) => Promise<readonly WatchedAddress[]> {
  const api = new ApiClient(apiOptions(context.env), {
    ...context.deps,
    name: NAME,
    logger: { info: () => {}, warn: () => {} },
  });
  return async (signal) => {
    try {
      const pods = await podsOf(api, selector, signal);
      return pods.flatMap((pod) => urlsOf(pod)).map((url) => addressOf(context, url));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof BridgeError)) throw error;
      const message = `--kubernetes ${selector}: ${error.message.replace(`sink ${NAME}: `, '')}`;
      throw new BridgeError(error.code, message, { cause: error });
    }
  };
}

async function podsOf(api: ApiClient, selector: string, signal: AbortSignal): Promise<readonly JsonObject[]> {
  const pods: JsonObject[] = [];
  let next = '';
  do {
    const query = new URLSearchParams({
      labelSelector: selector,
      limit: String(PAGE),
      ...(next && { continue: next }),
    });
    const answer = await api.ask({ method: 'GET', path: `/api/v1/pods?${query}` }, signal);
    if (answer.status !== 200) throw refusal(answer);
    const { items, metadata } = objectOf(answer.body);
    pods.push(...(Array.isArray(items) ? items.map(objectOf) : []));
    next = stringOf(objectOf(metadata)['continue']);
  } while (next !== '');
  return pods;
}

function refusal({ status, body }: ApiAnswer): BridgeError {
  const why = stringOf(objectOf(body)['message']) || 'no reason given';
  const message = `the API server answered ${status}: ${why}; the account needs the right to list pods in all namespaces`;
  return new BridgeError('BRIDGE_KUBERNETES_REFUSED', message);
}

/** Returns the address of a running pod; none of one that has none yet, or is being deleted. */
function urlsOf(pod: JsonObject): readonly string[] {
  const { podIP, phase } = objectOf(pod['status']);
  if (typeof podIP !== 'string' || phase !== 'Running' || objectOf(pod['metadata'])['deletionTimestamp'] !== undefined)
    return [];
  const containers = objectOf(pod['spec'])['containers'];
  const ports = (Array.isArray(containers) ? containers : []).flatMap((container) => {
    const of = objectOf(container)['ports'];
    return Array.isArray(of) ? of.map(objectOf) : [];
  });
  const port = ports.find(({ name }) => name === 'https') ?? ports.find(({ name }) => name === 'http');
  const scheme = port?.['name'] === 'https' ? 'https' : 'http';
  return [`${scheme}://${urlHost(podIP)}:${Number(port?.['containerPort'] ?? DEFAULT_PORT)}`];
}

/** The service account of a pod, unless KUBECONFIG names a file. @throws BridgeError BRIDGE_USAGE */
function apiOptions(env: VerbContext['env']): ApiOptions {
  const { KUBECONFIG, KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  const more = { serviceAccount: ACCOUNT_FOLDER, timeout: TIMEOUT_MS };
  if (!KUBECONFIG && host && port) return { ...more, cluster: { host: opened(host), port: opened(port) } };
  const file = resolve(KUBECONFIG || join(homedir(), '.kube', 'config'));
  try {
    const kubeconfig = new Secret({ file });
    kubeconfig.open(readRegularFile(file), file);
    return { ...more, cluster: null, kubeconfig };
  } catch (error) {
    throw usageError(`--kubernetes needs a kubeconfig, or to run in a pod: ${file} ${fileReadFault(error)}`, error);
  }
}

function opened(value: string): Secret {
  const secret = new Secret({ env: 'KUBERNETES_SERVICE_HOST' });
  secret.open(value);
  return secret;
}
