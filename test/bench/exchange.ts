// A method, a URL, headers and a JSON body → the answer's status and body, on kept connections.
import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true });

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  /** As JSON; none where absent. */
  readonly body?: unknown;
}

/** @throws where no answer comes, and for one that is no success */
export function exchange(
  method: string,
  url: string,
  { headers = {}, body }: Sent = {},
): Promise<{ status: number; text: string }> {
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const ofBody = bytes && { 'Content-Type': 'application/json', 'Content-Length': bytes.length };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent, headers: { ...headers, ...ofBody } }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        const { statusCode: status = 0 } = incoming;
        const text = Buffer.concat(chunks).toString();
        if (status < 300) resolve({ status, text });
        else reject(new Error(`${method} ${url} was answered ${status}: ${text}`));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}
