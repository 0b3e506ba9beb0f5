// A request to one machine's port → its answer, without sockets.
import { answerProblem, type SimAnswer, type SimRequest } from './answer.ts';
import { answerControl, isControlRoute } from './control/control-routes.ts';
import { applyFault } from './events/faults.ts';
import type { Machine } from './events/machine.ts';
import type { Group } from './group.ts';
import type { AnswerOutcome } from './journal.ts';
import type { Client } from './listener.ts';
import { answerMetadata, isMetadataRoute, tooMany } from './metadata/metadata-routes.ts';

const MOST_REQUESTS = 5;
const WINDOW_MS = 1000;

/** The metadata service of one VM (protocol 1), with its control routes (behaviour 7). */
export class Simulator {
  readonly group: Group;
  readonly #machine: Machine;
  readonly #limit: RateLimit | null;

  /** @param machine a machine of `group` */
  constructor(group: Group, machine: Machine) {
    this.group = group;
    this.#machine = machine;
    this.#limit = group.strict ? new RateLimit() : null;
  }

  get vmName(): string {
    return this.#machine.name;
  }

  /**
   * Answers any request and never throws.
   * @param client reports the outcome of the answer; without one, the answer counts as received at once
   */
  handle(request: SimRequest, client?: Pick<Client, 'onEnd'>): SimAnswer {
    const nowMs = this.group.catchUp();
    const normalized = { ...request, headers: lowerCased(request.headers) };
    if (isMetadataRoute(request.url)) return this.#metadata(normalized, nowMs, client);
    if (isControlRoute(request.url)) return answerControl(this.group, normalized, nowMs);
    return answerProblem({
      status: 404,
      detail: 'There is no such path: the simulator serves /metadata, /simulator and a page at /.',
    });
  }

  #metadata(request: LowerCasedRequest, nowMs: number, client: Pick<Client, 'onEnd'> | undefined): SimAnswer {
    const answer = this.#limit?.take(nowMs) === false ? tooMany() : this.#answer(request, nowMs);
    const { method, url: path, headers } = request;
    const body = request.body.length === 0 ? '' : new TextDecoder().decode(request.body);
    const { journal } = this.group;
    const record = { vm: this.vmName, method, path, headers, body, status: answer.status };
    const entry = journal.add(record, client ? 'waiting' : expectedOutcome(answer), nowMs);
    client?.onEnd((outcome) => journal.settle(entry, outcome));
    return answer;
  }

  #answer(request: SimRequest, nowMs: number): SimAnswer {
    const order = this.group.faults.take({ vm: this.vmName, method: request.method, url: request.url }, nowMs);
    const effects = { noEffect: order !== null, stale: order?.stale === true };
    const usual = answerMetadata(this.group, this.#machine, request, nowMs, effects);
    return order ? applyFault(usual, order) : usual;
  }
}

interface LowerCasedRequest extends SimRequest {
  readonly headers: Readonly<Record<string, string>>;
}

/** The outcome of an answer that reaches its client without interruption. */
function expectedOutcome({ reset, truncate, body }: SimAnswer): AnswerOutcome {
  if (reset) return 'reset';
  return truncate !== undefined && truncate < body.length ? 'truncated' : 'answered';
}

function lowerCased(headers: SimRequest['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), value]])),
  );
}

/** Limits one machine to 5 requests in any second (protocol 1.7). */
export class RateLimit {
  #takenAtMs: number[] = [];

  /** Returns false for a request beyond the limit, which then does not count. @param nowMs simulated */
  take(nowMs: number): boolean {
    this.#takenAtMs = this.#takenAtMs.filter((atMs) => atMs > nowMs - WINDOW_MS);
    if (this.#takenAtMs.length >= MOST_REQUESTS) return false;
    this.#takenAtMs.push(nowMs);
    return true;
  }
}
