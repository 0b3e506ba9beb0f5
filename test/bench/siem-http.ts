// What a service answers → a far side over HTTP; a plain loop posts again what came.
import { type ReceivedRequest, WebhookReceiver } from '../far-sides/webhook-receiver.ts';
import type { Sections } from '../support/running-bridge.ts';
import type { SiemFarSide } from './siem.ts';

/** Requests at once, as the sinks'. */
const IN_FLIGHT = 4;
const TOKEN_PATH = '/token';

export interface HttpService {
  /** The sink's options, given the origin. */
  readonly sink: (origin: string) => Sections;
  /** The type and the bytes of a 200; a 204 where there is none. */
  readonly answer?: (request: ReceivedRequest) => { readonly type: string; readonly body: string };
}

/** Takes all there is. At `/token` it is the endpoint of a machine's identity, which the environment names. */
export async function httpFarSide({ sink, answer }: HttpService): Promise<SiemFarSide> {
  const receiver = await WebhookReceiver.start();
  receiver.default = (response, _, request) => {
    const { type, body } = request.path.startsWith(TOKEN_PATH)
      ? token()
      : (answer?.(request) ?? { type: '', body: null });
    if (body === null) response.writeHead(204).end();
    else response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
  };
  const { origin } = new URL(receiver.url);
  return {
    sink: { allowInsecure: true, allowPrivate: ['127.0.0.0/8'], ...sink(origin) },
    env: { IDENTITY_ENDPOINT: `${origin}${TOKEN_PATH}`, IDENTITY_HEADER: 'header' },
    forget: () => {
      receiver.requests.length = 0;
    },
    sends: () => ({ way: 'post', to: origin, inFlight: IN_FLIGHT, settleMs: 0, sends: receiver.requests.map(kept) }),
    [Symbol.asyncDispose]: () => receiver.stop(),
  };
}

function kept({ path, headers, body }: ReceivedRequest) {
  const { host: _, connection: __, ...own } = headers;
  return { path, headers: own as Readonly<Record<string, string>>, base64: body.toString('base64') };
}

function token(): { readonly type: string; readonly body: string } {
  const expires_on = String(Math.floor(Date.now() / 1000) + 86_400);
  return json({ access_token: 'token', token_type: 'Bearer', resource: 'https://monitor.azure.com', expires_on });
}

export function json(body: unknown): { readonly type: string; readonly body: string } {
  return { type: 'application/json', body: JSON.stringify(body) };
}
