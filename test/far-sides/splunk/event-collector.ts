// Tokens and indexes → an HTTP Event Collector on loopback, by Splunk's documented codes.
import { plainBody } from '../plain-body.ts';
import { type ReceivedRequest, type ReceiverOptions, WebhookReceiver } from '../webhook-receiver.ts';
import { type ReadEvent, readEvents } from './event-reader.ts';

export interface Token {
  readonly enabled?: boolean;
  readonly acknowledges?: boolean;
}

/** Each code with its documented status and text. */
const ANSWERS: Readonly<Record<number, readonly [status: number, text: string]>> = {
  0: [200, 'Success'],
  1: [403, 'Token disabled'],
  2: [401, 'Token is required'],
  3: [401, 'Invalid authorization'],
  4: [403, 'Invalid token'],
  5: [400, 'No data'],
  6: [400, 'Invalid data format'],
  7: [400, 'Incorrect index'],
  8: [500, 'Internal server error'],
  9: [503, 'Server is busy'],
  10: [400, 'Data channel is missing'],
  11: [400, 'Invalid data channel'],
  12: [400, 'Event field is required'],
  13: [400, 'Event field cannot be blank'],
  14: [400, 'ACK is disabled'],
  15: [400, 'Error in handling indexed fields'],
};

interface Reply {
  readonly status: number;
  readonly body: string;
}

interface Sent {
  readonly token: Token;
  readonly channel: string | null;
  readonly body: string;
}

const CHANNEL = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export class EventCollector implements AsyncDisposable {
  /** Tests may change it at any time. */
  readonly tokens: Map<string, Token>;
  readonly indexes = new Set(['main', 'azure']);
  /** Whether polls report batches as acknowledged. */
  isIndexing = true;
  /** The code that every post gets; null: the code that the post deserves. */
  failsWith: number | null = null;
  /** The number of the first event: some releases count from 1. */
  firstNumber = 0;
  /** Whether the answer omits the number of the bad event. */
  omitsNumber = false;
  /** Rejects events that contain this text, with the code of a bad format. */
  badText: string | null = null;
  /** The accepted events, with repeats. */
  readonly events: ReadEvent[] = [];
  /** The number of polls for acknowledgments. */
  polls = 0;
  readonly receiver: WebhookReceiver;
  /** The number of accepted batches of each channel. */
  readonly #sent = new Map<string, number>();

  private constructor(receiver: WebhookReceiver, tokens: Readonly<Record<string, Token>>) {
    this.receiver = receiver;
    this.tokens = new Map(Object.entries(tokens));
    this.restore();
  }

  static async start(tokens: Readonly<Record<string, Token>>, options: ReceiverOptions = {}): Promise<EventCollector> {
    return new EventCollector(await WebhookReceiver.start(options), tokens);
  }

  /** The collector's base URL. */
  get url(): string {
    return new URL(this.receiver.url).origin;
  }

  /** Restores the normal answers. */
  restore(): void {
    this.receiver.default = (response, _, request) => {
      const { status, body } = this.#reply(request);
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.receiver.stop();
  }

  #reply(request: ReceivedRequest): Reply {
    const { method, path, headers } = request;
    const { pathname, searchParams } = new URL(path, 'http://collector');
    const authorized = this.#authorize(headers.authorization);
    if (typeof authorized === 'number') return reply(authorized);
    const channel = headers['x-splunk-request-channel'] ?? searchParams.get('channel');
    const sent = {
      token: authorized,
      channel: channel === null ? null : String(channel),
      body: plainBody(request).toString(),
    };
    if (method === 'POST' && pathname === '/services/collector/ack') return this.#acknowledge(sent);
    if (method !== 'POST' || pathname !== '/services/collector/event')
      return { status: 404, body: '<html>Not Found</html>' };
    return this.#take(sent);
  }

  /** Returns a valid token, or the code of its fault. */
  #authorize(authorization: string | undefined): Token | number {
    if (authorization === undefined) return 2;
    const [, name = ''] = /^Splunk (\S+)$/.exec(authorization) ?? [];
    if (name === '') return 3;
    const token = this.tokens.get(name);
    if (token === undefined) return 4;
    return token.enabled === false ? 1 : token;
  }

  #take({ token, channel, body }: Sent): Reply {
    if (this.failsWith !== null) return reply(this.failsWith);
    if (token.acknowledges && channel === null) return reply(10);
    if (channel !== null && !CHANNEL.test(channel)) return reply(11);
    const { events, bad } = readEvents(body);
    const place = events.findIndex(({ event, index = 'main' }) => !this.indexes.has(index) || this.#isBad(event));
    this.events.push(...(place < 0 ? events : events.slice(0, place)));
    if (place >= 0) return this.#refused(this.#isBad(events[place]?.event) ? 6 : 7, place);
    if (bad !== null) return bad.code === 5 ? reply(5) : this.#refused(bad.code, bad.place);
    return token.acknowledges ? reply(0, { ackId: this.#nextAck(channel ?? '') }) : reply(0);
  }

  #isBad(event: unknown): boolean {
    return this.badText !== null && JSON.stringify(event).includes(this.badText);
  }

  #refused(code: number, place: number): Reply {
    return reply(code, this.omitsNumber ? {} : { 'invalid-event-number': place + this.firstNumber });
  }

  #nextAck(channel: string): number {
    const ackId = this.#sent.get(channel) ?? 0;
    this.#sent.set(channel, ackId + 1);
    return ackId;
  }

  #acknowledge({ token, channel, body }: Sent): Reply {
    if (!token.acknowledges) return reply(14);
    if (channel === null || !CHANNEL.test(channel)) return reply(channel === null ? 10 : 11);
    this.polls += 1;
    const { acks } = JSON.parse(body) as { acks: readonly number[] };
    const sent = this.#sent.get(channel) ?? 0;
    return {
      status: 200,
      body: JSON.stringify({ acks: Object.fromEntries(acks.map((id) => [id, this.isIndexing && id < sent])) }),
    };
  }
}

function reply(code: number, more: object = {}): Reply {
  const [status, text] = ANSWERS[code] ?? [500, 'unknown'];
  return { status, body: JSON.stringify({ text, code, ...more }) };
}
