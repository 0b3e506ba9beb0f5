// A test → kube-apiserver with kine as its store, on loopback, with RBAC and service accounts.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { poll } from '../../support/poll.ts';
import { CertificateAuthority } from '../certificate-authority.ts';
import { PortBlock } from '../kafka/ports.ts';
import { KINE, KUBE_APISERVER } from './binaries.ts';

const START_WITHIN_MS = 120_000;

/** An object of Kubernetes, or a list of them. */
export type KubernetesObject = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly status: number;
  readonly body: KubernetesObject;
}

/** No controller, no scheduler and no kubelet: what they would do, a test does (`objects.ts`). */
export class ApiServer implements AsyncDisposable {
  readonly url: string;
  /** PEM file of the authority that signed its certificate. */
  readonly ca: string;
  /** An admin's: everything is allowed (`system:masters`). */
  readonly kubeconfig: string;
  readonly #token = randomBytes(24).toString('hex');
  readonly #folder: string;
  readonly #ports: PortBlock;
  readonly #processes: ChildProcess[] = [];

  private constructor(folder: string, ports: PortBlock, ca: string) {
    this.#folder = folder;
    this.#ports = ports;
    this.ca = ca;
    this.url = `https://127.0.0.1:${ports.port(0)}`;
    this.kubeconfig = this.#writeKubeconfig('admin', this.#token);
  }

  /** It is ready, and the roles and namespaces that it makes by itself are there. */
  static async start(): Promise<ApiServer> {
    const folder = mkdtempSync(join(tmpdir(), 'bridge-kubernetes-'));
    const authority = await CertificateAuthority.createIn(folder);
    const server = new ApiServer(folder, await PortBlock.claim(), authority.file);
    try {
      await server.#launch(authority);
    } catch (error) {
      const log = ['kine', 'kube-apiserver']
        .map((name) => readFileSync(join(folder, `${name}.log`), 'utf8').slice(-3000))
        .join('\n');
      await server[Symbol.asyncDispose]();
      throw new Error(`the API server did not start: ${String(error)}; logs:\n${log}`);
    }
    return server;
  }

  /** A request of its interface with the admin's rights, or with a service account's token. */
  async ask(
    method: string,
    path: string,
    body?: object,
    { token = this.#token, patch = 'merge-patch' } = {},
  ): Promise<Answer> {
    const contentType = method === 'PATCH' ? `application/${patch}+json` : 'application/json';
    const headers = { authorization: `Bearer ${token}`, 'content-type': contentType };
    const asked = request(`${this.url}${path}`, { method, headers, ca: readFileSync(this.ca), agent: false });
    asked.end(body && JSON.stringify(body));
    const [answer] = await once(asked, 'response');
    return { status: answer.statusCode, body: (await json(answer)) as KubernetesObject };
  }

  /** The same where nothing but a success will do. @throws with the server's words */
  async must(
    method: string,
    path: string,
    body?: object,
    options: { token?: string; patch?: string } = {},
  ): Promise<KubernetesObject> {
    const answer = await this.ask(method, path, body, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** A token as a pod of that service account finds in its file, good for an hour. */
  async tokenOf(namespace: string, serviceAccount: string): Promise<string> {
    const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const { status } = await this.must(
      'POST',
      `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`,
      asked,
    );
    return (status as { readonly token: string }).token;
  }

  /** A kubeconfig of a service account. */
  async kubeconfigOf(namespace: string, serviceAccount: string): Promise<string> {
    return this.#writeKubeconfig(`${namespace}-${serviceAccount}`, await this.tokenOf(namespace, serviceAccount));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The API server before its store: it would wait for it for long.
    for (const child of this.#processes.splice(0).reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    this.#ports[Symbol.dispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #launch(authority: CertificateAuthority): Promise<void> {
    const store = `http://127.0.0.1:${this.#ports.port(1)}`;
    this.#spawn(KINE, 'kine', [
      '--endpoint',
      `sqlite://${join(this.#folder, 'kine.db')}`,
      '--listen-address',
      store,
      '--metrics-bind-address',
      '0',
    ]);
    const serving = await authority.issue('IP:127.0.0.1');
    this.#spawn(KUBE_APISERVER, 'kube-apiserver', [
      ...['--etcd-servers', store, '--bind-address', '127.0.0.1', '--advertise-address', '127.0.0.1'],
      ...['--secure-port', String(this.#ports.port(0)), '--service-cluster-ip-range', '10.96.0.0/24'],
      ...['--tls-cert-file', serving.certFile, '--tls-private-key-file', serving.keyFile, '--cert-dir', this.#folder],
      ...[
        '--authorization-mode',
        'RBAC',
        '--token-auth-file',
        this.#file('tokens.csv', `${this.#token},admin,admin,system:masters\n`),
      ],
      ...this.#serviceAccounts(),
      // Nothing here makes the service account `default` of a namespace.
      ...['--disable-admission-plugins', 'ServiceAccount', '--enable-bootstrap-token-auth=false'],
    ]);
    await poll(() => this.#isReady(), 'kube-apiserver', START_WITHIN_MS);
  }

  #serviceAccounts(): readonly string[] {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const verifying = this.#file('accounts.pub', publicKey.export({ type: 'spki', format: 'pem' }));
    const signing = this.#file('accounts.key', privateKey.export({ type: 'pkcs8', format: 'pem' }));
    return [
      '--service-account-issuer',
      this.url,
      '--service-account-key-file',
      verifying,
      '--service-account-signing-key-file',
      signing,
    ];
  }

  async #isReady(): Promise<boolean> {
    const ended = this.#processes.find(({ exitCode }) => exitCode !== null);
    if (ended) throw new Error(`${ended.spawnfile} ended`);
    const asked = [
      this.ask('GET', '/apis/apps/v1'),
      this.ask('GET', '/api/v1/namespaces/default'),
      this.ask('GET', VIEW),
    ];
    const answers = await Promise.all(asked).catch(
      () => new Promise<Answer[]>((resolve) => setTimeout(resolve, 200, [])),
    );
    return answers.length > 0 && answers.every(({ status }) => status === 200);
  }

  #spawn(path: string, name: string, words: readonly string[]): void {
    const log = openSync(join(this.#folder, `${name}.log`), 'a');
    this.#processes.push(spawn(path, words, { cwd: this.#folder, stdio: ['ignore', log, log] }));
    closeSync(log);
  }

  #writeKubeconfig(user: string, token: string): string {
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster: { server: this.url, 'certificate-authority': this.ca } }],
      users: [{ name: user, user: { token } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user } }],
      'current-context': 'test',
    };
    return this.#file(`${user}.kubeconfig`, JSON.stringify(config));
  }

  #file(name: string, text: string | Buffer): string {
    const path = join(this.#folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }
}

/** One of the roles that it makes at its start. */
const VIEW = '/apis/rbac.authorization.k8s.io/v1/clusterroles/view';
