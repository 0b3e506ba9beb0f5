// Options → the address and credentials of the API server, read again when files change.
import { BridgeError, messageOf } from '../../../src/errors.ts';
import { pemFaults, secureContext } from '../../../src/net/certificates.ts';
import { type FileText, WatchedFile } from '../../../src/secrets/watched-file.ts';
import type { AdapterDeps } from '../../adapter.ts';
import type { KubernetesOptions } from '../kubernetes-options.ts';
import { type Access, type AccessSource, inClusterSource } from './access.ts';

export type ClusterOptions = Pick<KubernetesOptions, 'cluster' | 'kubeconfig' | 'serviceAccount'>;
export type ClusterDeps = Pick<AdapterDeps, 'name' | 'elapsedMs'> & {
  readonly logger: Pick<AdapterDeps['logger'], 'info' | 'warn'>;
};

/** Opens no file before `current`. */
export class ClusterAccess {
  readonly #options: ClusterOptions;
  readonly #deps: ClusterDeps;
  #watched: WatchedFile<Access> | null = null;

  constructor(options: ClusterOptions, deps: ClusterDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /**
   * Returns the same object while the files are unchanged.
   * @throws BridgeError BRIDGE_KUBERNETES_ACCESS if they were never usable
   */
  async current(): Promise<Access> {
    try {
      this.#watched ??= this.#watch(await sourceOf(this.#options));
      return this.#watched.current();
    } catch (error) {
      const message = `sink ${this.#deps.name}: ${messageOf(error)}: correct it; the next attempt reads it again`;
      throw new BridgeError('BRIDGE_KUBERNETES_ACCESS', message, { disposition: 'misconfigured', scope: 'sink' });
    }
  }

  #watch({ paths, read }: AccessSource): WatchedFile<Access> {
    const { logger, elapsedMs } = this.#deps;
    const files = paths.join(', ');
    return new WatchedFile<Access>(
      paths,
      {
        initial: () => {
          throw new Error('no file was read yet');
        },
        parse: (texts, before) => {
          const access = checked(read(texts.map((text, index) => textOf(paths[index] ?? '', text))));
          return before !== null && isSame(access, before) ? before : access;
        },
        onChanged: () =>
          logger.info(`the credentials for the API server have changed: the sink uses the new ones: ${files}`),
        onUnusable: (reason) =>
          logger.warn(
            { reason },
            'the new credentials for the API server cannot be used: the sink keeps the previous ones',
          ),
      },
      { elapsedMs },
    );
  }
}

async function sourceOf({ cluster, kubeconfig, serviceAccount }: ClusterOptions): Promise<AccessSource> {
  if (cluster !== null) return inClusterSource(cluster, serviceAccount);
  if (!kubeconfig?.file) throw new Error('kubeconfig is not open');
  const { kubeconfigSource } = await import('./kubeconfig.ts');
  return kubeconfigSource(kubeconfig.file, kubeconfig.reveal());
}

/** @throws with a reason that quotes none of the files */
function checked(access: Access): Access {
  const { ca, cert, key } = access;
  const [fault] = pemFaults({ ca, cert, key }, 'the access');
  if (fault) throw new Error(`${fault.key} ${fault.message}`);
  const context = secureContext({ ca, cert, key });
  if ('fault' in context) throw new Error(`the access ${context.fault}`);
  return access;
}

function textOf(path: string, file: FileText): string {
  if ('fault' in file) throw new Error(`${path} ${file.fault}`);
  return file.text;
}

function isSame(one: Access, other: Access): boolean {
  return (
    one.server.href === other.server.href &&
    (['ca', 'cert', 'key', 'serverName', 'token'] as const).every((part) => one[part] === other[part])
  );
}
