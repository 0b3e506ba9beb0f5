// Actions of callers → requests to the bridge; an answer that is not good is an error.
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Action } from './mix.ts';

const REQUESTS: Readonly<Record<Action, readonly [string, string]>> = {
  metrics: ['GET', '/metrics'],
  readiness: ['GET', '/readyz'],
  events: ['GET', '/v1/events'],
  reload: ['POST', '/v1/reload'],
};

export class Callers {
  readonly #url: string;
  readonly #token: string;
  readonly #approvals: Promise<unknown>[] = [];

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  async act(action: Action): Promise<void> {
    await this.ask(...REQUESTS[action]);
  }

  /**
   * Resolves when the request is on its way as a whole: virtual time may pass then. The answer comes after the
   * StartRequest, or after 10 s; `settled` waits for it.
   */
  async approve(eventId: string): Promise<void> {
    const body = { StartRequests: [{ EventId: eventId }] };
    const asking = this.#send('POST', '/v1/approvals', body);
    const answered = goodAnswer(asking);
    answered.catch(() => {});
    this.#approvals.push(answered);
    if (!asking.writableFinished) await Promise.race([once(asking, 'finish'), answered]);
  }

  /** @throws Error if an approver was not answered with 200 or 202 */
  async settled(): Promise<void> {
    await Promise.all(this.#approvals.splice(0));
  }

  /** @throws Error for any status but 200 and 202 */
  async ask(method: string, path: string, body?: object): Promise<string> {
    return await goodAnswer(this.#send(method, path, body));
  }

  #send(method: string, path: string, body?: object): ClientRequest {
    const text = body === undefined ? '' : JSON.stringify(body);
    const asking = request(new URL(path, this.#url), {
      method,
      agent: false,
      headers: {
        authorization: `Bearer ${this.#token}`,
        connection: 'close',
        ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      },
    });
    asking.end(text);
    return asking;
  }
}

async function goodAnswer(asking: ClientRequest): Promise<string> {
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  let text = '';
  for await (const piece of answer.setEncoding('utf8')) text += piece;
  if (answer.statusCode !== 200 && answer.statusCode !== 202)
    throw new Error(`${asking.method} ${asking.path} was answered ${answer.statusCode}: ${text.slice(0, 300)}`);
  return text;
}
