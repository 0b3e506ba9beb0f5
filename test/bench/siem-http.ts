// What a service answers → a far side over HTTP; a plain loop posts again what came.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ReceivedRequest, WebhookReceiver } from '../far-sides/webhook-receiver.ts';
import type { Sections } from '../support/running-bridge.ts';
import { withFlags } from './bridge-between.ts';
import type { SiemFarSide } from './siem.ts';

const LOOP = join(import.meta.dirname, 'siem-post-loop.ts');

export interface KeptRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Base64. */
  readonly body: string;
}

export interface HttpService {
  /** The sink's options beside url. */
  readonly sink: Sections;
  /** Requests at once, as the sink's. */
  readonly inFlight: number;
  /** The body of a 200. */
  readonly answer: (request: ReceivedRequest) => string;
}

/** Takes all there is. */
export async function httpFarSide({ sink, inFlight, answer }: HttpService): Promise<SiemFarSide> {
  const receiver = await WebhookReceiver.start();
  let [firstMs, lastMs] = [0, 0];
  receiver.default = (response, _, request) => {
    firstMs ||= performance.now();
    const body = answer(request);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body, () => {
      lastMs = performance.now();
    });
  };
  const folder = mkdtempSync(join(tmpdir(), 'bench-siem-'));
  const { origin } = new URL(receiver.url);
  return {
    sink: { url: origin, allowInsecure: true, allowPrivate: ['127.0.0.0/8'], ...sink },
    forget: () => {
      receiver.requests.length = 0;
      firstMs = 0;
    },
    tookMs: () => lastMs - firstMs,
    loop: async () => {
      const file = join(folder, 'requests.json');
      writeFileSync(file, JSON.stringify(receiver.requests.map(kept)));
      const { stdout } = await withFlags([LOOP, origin, String(inFlight), file], ['ignore', 'pipe', 'inherit']).ended();
      return Number(stdout);
    },
    [Symbol.asyncDispose]: async () => {
      await receiver.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

function kept({ path, headers, body }: ReceivedRequest): KeptRequest {
  const { host: _, connection: __, ...own } = headers;
  return { path, headers: own as Readonly<Record<string, string>>, body: body.toString('base64') };
}
