// put-token requests on `$cbs` → one connection's tokens by audience, and their end.
import { type Claim, type Grant, JWT_TYPE, judgeToken, SAS_TYPE } from './access-keys.ts';
import type { AmqpMessage } from './amqp-message.ts';
import type { Broker } from './broker.ts';
import { entityOf } from './namespace.ts';
import { type NodeAnswer, textOf } from './request-node.ts';

interface Held {
  readonly grant: Grant;
  readonly cancel: () => void;
}

export class TokenStore {
  readonly #broker: Broker;
  readonly #expired: (path: string) => void;
  readonly #drop: () => void;
  /** By the audience's path in lower case. */
  readonly #held = new Map<string, Held>();
  readonly #unanswered: (() => void)[] = [];

  /** `expired` hears the path of an audience whose token ran out; `drop` cuts the connection. */
  constructor(broker: Broker, expired: (path: string) => void, drop: () => void) {
    this.#broker = broker;
    this.#expired = expired;
    this.#drop = drop;
  }

  /** The answer to a put-token, or null where a fault keeps it. */
  put(request: AmqpMessage, later: (answer: NodeAnswer) => void): NodeAnswer | null {
    const [audience, type] = [textOf(request, 'name'), textOf(request, 'type')];
    const token = request.body.kind === 'value' ? String(request.body.value.value) : '';
    const put = { text: token, type, audience };
    const fault = this.#broker.faults.nextToken(entityOf(pathOf(audience)));
    if (fault?.do === 'drop') this.#drop();
    if (fault?.do === 'ignore') this.#unanswered.push(() => later(this.#judge(request, put)));
    const refused =
      fault?.do === 'answer'
        ? { status: fault.status, description: fault.description ?? `status-code: ${fault.status}` }
        : null;
    const answer = fault ? refused : this.#judge(request, put);
    this.#broker.contacts.push({ what: 'put-token', audience, tokenType: type, token, status: answer?.status ?? null });
    return answer;
  }

  /** Whether some token of this connection allows it on an entity; one for a path covers what lies below. */
  allows(path: string, claim: Claim): boolean {
    const wanted = path.toLowerCase();
    return [...this.#held].some(
      ([audience, { grant }]) =>
        grant.claims.includes(claim) && (audience === '' || wanted === audience || wanted.startsWith(`${audience}/`)),
    );
  }

  /** Every token runs out now. */
  expireAll(): void {
    for (const path of [...this.#held.keys()]) this.#expire(path);
  }

  /** Answers, late, what a fault left without an answer. */
  answerHeld(): void {
    for (const answer of this.#unanswered.splice(0)) answer();
  }

  close(): void {
    for (const { cancel } of this.#held.values()) cancel();
    this.#held.clear();
  }

  #judge(
    request: AmqpMessage,
    token: { readonly text: string; readonly type: string; readonly audience: string },
  ): NodeAnswer {
    if (textOf(request, 'operation') !== 'put-token') return { status: 400, description: 'the operation is not known' };
    if (![SAS_TYPE, JWT_TYPE].includes(token.type))
      return { status: 400, description: `the token type '${token.type}' is not known` };
    if (!/^(sb|amqps?):\/\/[^/]+\//.test(token.audience))
      return { status: 400, description: `no audience: '${token.audience}'` };
    const judged = judgeToken(token, this.#broker.keys, this.#broker.checkJwt, this.#broker.clock.now());
    if (typeof judged === 'string') return { status: 401, description: judged };
    this.#keep(entityOf(pathOf(token.audience)).toLowerCase(), judged);
    return { status: 202, description: 'Accepted' };
  }

  #keep(path: string, grant: Grant): void {
    this.#held.get(path)?.cancel();
    const cancel = Number.isFinite(grant.expiresAt)
      ? this.#broker.clock.at(grant.expiresAt, () => this.#expire(path))
      : () => {};
    this.#held.set(path, { grant, cancel });
  }

  #expire(path: string): void {
    this.#held.get(path)?.cancel();
    this.#held.delete(path);
    this.#expired(path);
  }
}

/** The path of `sb://host:port/path`. */
function pathOf(audience: string): string {
  return audience.replace(/^[a-z]+:\/\/[^/]+\//, '').replace(/\/+$/, '');
}
