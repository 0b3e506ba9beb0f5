// The routes of an API server that the bridge asks, over https → a cluster in memory.
import { CERTIFICATE, PRIVATE_KEY } from '../certificate.ts';
import { type ReceivedRequest, WebhookReceiver } from '../webhook-receiver.ts';
import { type Answered, failure, NodeCluster } from './node-cluster.ts';
import { patchNode } from './node-patches.ts';

export const TOKEN = 'token-nobody-may-see';
export const ACCOUNT = 'system:serviceaccount:maintenance:scheduled-events-bridge';

const NODE = /^\/api\/v1\/nodes\/([^/]+)(\/status)?$/;
const EVENTS = /^\/api\/v1\/namespaces\/([^/]+)\/events$/;
const EVICTION = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/eviction$/;

interface Ask {
  readonly method: string;
  readonly url: URL;
  readonly contentType: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export class NodeApi implements AsyncDisposable {
  readonly cluster = new NodeCluster();
  readonly receiver: WebhookReceiver;
  /** Tokens that are known. */
  readonly tokens = new Set([TOKEN]);
  /** As `patch nodes/status`; everything but these is allowed. */
  readonly forbidden = new Set<string>();
  /** Called before each request is judged: somebody else may write meanwhile. */
  meanwhile: (method: string, path: string) => void = () => undefined;

  private constructor(receiver: WebhookReceiver) {
    this.receiver = receiver;
    this.work();
  }

  static async start(): Promise<NodeApi> {
    return new NodeApi(await WebhookReceiver.start({ tls: { cert: CERTIFICATE, key: PRIVATE_KEY } }));
  }

  get url(): string {
    return new URL(this.receiver.url).origin;
  }

  /** Method and path of what was asked, without reviews of rights. */
  get asked(): readonly string[] {
    return this.receiver.requests
      .map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`)
      .filter((ask) => !ask.includes('/apis/'));
  }

  /** Answers as it should, after the test had it answer otherwise. */
  work(): void {
    this.receiver.default = (response, _, request) => {
      const { status, body, headers } = this.#answer(request);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.receiver.stop();
  }

  #answer({ method, path, headers, body }: ReceivedRequest): Answered {
    const [, token = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
    if (!this.tokens.has(token)) return failure(401, 'Unauthorized', 'Unauthorized');
    this.meanwhile(method, path);
    const parsed = body.length === 0 ? {} : (JSON.parse(body.toString()) as Ask['body']);
    return this.#route({
      method,
      url: new URL(path, this.url),
      contentType: headers['content-type'] ?? '',
      body: parsed,
    });
  }

  #route({ method, url: { pathname, searchParams }, contentType, body }: Ask): Answered {
    const [, node, status] = NODE.exec(pathname) ?? [];
    const [, eventsIn] = EVENTS.exec(pathname) ?? [];
    const [, namespace, pod] = EVICTION.exec(pathname) ?? [];
    if (node !== undefined && method === 'GET') return this.#may('get nodes') ?? this.#read(node);
    if (node !== undefined && method === 'PATCH')
      return (
        this.#may(`patch nodes${status ?? ''}`) ??
        patchNode(this.cluster, { name: node, isStatus: status !== undefined, contentType, patch: body })
      );
    if (eventsIn !== undefined && method === 'POST')
      return this.#may('create events') ?? this.cluster.createEvent(eventsIn, body as never);
    if (pod !== undefined && method === 'POST')
      return (
        this.#may('create pods/eviction') ??
        this.cluster.evict(`${namespace}/${pod}`, (body['deleteOptions'] ?? {}) as object)
      );
    if (pathname === '/api/v1/pods') {
      const on = (searchParams.get('fieldSelector') ?? '').replace('spec.nodeName=', '');
      return (
        this.#may('list pods') ??
        this.cluster.listPods(
          on,
          Number(searchParams.get('limit')),
          searchParams.get('continue') ?? '',
          searchParams.get('labelSelector') ?? '',
        )
      );
    }
    return this.#review(pathname, body);
  }

  #read(name: string): Answered {
    const node = this.cluster.nodes.get(name);
    return node === undefined ? failure(404, 'NotFound', `nodes "${name}" not found`) : { status: 200, body: node };
  }

  /** Null where it may. */
  #may(right: string): Answered | null {
    return this.forbidden.has(right) ? failure(403, 'Forbidden', `User "${ACCOUNT}" cannot ${right}`) : null;
  }

  #review(pathname: string, body: Ask['body']): Answered {
    if (pathname === '/apis/authentication.k8s.io/v1/selfsubjectreviews')
      return { status: 201, body: { ...body, status: { userInfo: { username: ACCOUNT } } } };
    if (pathname !== '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews')
      return failure(404, 'NotFound', 'not found');
    const { resourceAttributes } = body['spec'] as {
      readonly resourceAttributes: Readonly<Record<string, string | undefined>>;
    };
    const { verb, resource, subresource } = resourceAttributes;
    const right = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
    return { status: 201, body: { ...body, status: { allowed: !this.forbidden.has(right) } } };
  }
}
