// What `build-api-server` built → where it is, or why tests with it are skipped.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** That of `build-api-server`. */
const VERSION = '1.36.3';
const CACHES = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
const FOLDER = process.env['KUBERNETES_BINARIES'] ?? join(CACHES, 'scheduled-events-bridge', `kubernetes-${VERSION}`);

export const KUBE_APISERVER = join(FOLDER, 'kube-apiserver');
export const KINE = join(FOLDER, 'kine');
export const HELM = join(FOLDER, 'helm');

/**
 * For the `skip` of a test that starts an API server, and `besides`: false, or the reason.
 * @throws instead with REQUIRE_KUBERNETES
 */
export function noKubernetes(...besides: readonly string[]): string | false {
  const missing = [KUBE_APISERVER, KINE, ...besides].filter((path) => !existsSync(path));
  if (!process.env['REQUIRE_KUBERNETES'])
    return 'set REQUIRE_KUBERNETES=1 to run an API server, which takes 10 s and 400 MB';
  if (missing.length === 0) return false;
  throw new Error(
    `REQUIRE_KUBERNETES is set, and there is no ${missing.join(', ')}: run test/far-sides/kubernetes/build-api-server, or name a folder in KUBERNETES_BINARIES`,
  );
}
