// Chance → faults of a metadata service: odd answers, outages, stale documents.

import type { MetadataTransport, TransportAnswer } from '../../src/metadata/transport.ts';
import type { Simulation } from './simulation.ts';
import { simulatorAlone } from './simulator-alone.ts';
import { simulatorTransport } from './simulator-transport.ts';

const BROKEN = [
  { status: 400 },
  { status: 401 },
  { status: 403 },
  { status: 404 },
  { status: 405 },
  { status: 410 },
  { status: 429, headers: { 'Retry-After': '3' } },
  { status: 429 },
  { status: 500 },
  { status: 503, body: '{"error":"busy"}' },
  { status: 504, body: '<html><body>Gateway Time-out</body></html>', headers: { 'Content-Type': 'text/html' } },
  { status: 302, headers: { Location: 'http://127.0.0.1:1/' } },
  { status: 200, body: '<html>Please log in</html>' },
  { status: 200, body: '{"DocumentIncarnation":7,"Eve' },
  { status: 200, body: '{"DocumentIncarnation":7}' },
  { status: 200, body: '{"DocumentIncarnation":-1,"Events":{}}' },
  { truncate: 20 },
  { reset: true },
  { delay: '3s' },
  { delay: '20s' },
  { status: 503, method: 'POST' },
  { reset: true, method: 'POST' },
] as const;

/** With the answers' own documents, whose incarnations are counted anew when the service restarts. */
export class FaultyMetadataService {
  readonly #simulation: Simulation;
  readonly #random: () => number;
  readonly #send: MetadataTransport;
  /** The instance route is never out: what a VM is called has tests of its own. */
  readonly #instance: MetadataTransport;
  #offset = 0;
  #emptyUntilMs = 0;
  /** Documents given since the last restart, the last one at the end. */
  #given: string[] = [];
  #stale: string | null = null;
  #clearAtMs = 0;
  /** The last answer made from an honest document: most are the same again. */
  #last: { readonly offset: number; readonly body: Uint8Array; readonly answer: TransportAnswer } | null = null;

  constructor(simulation: Simulation, random: () => number) {
    const { simulator, time } = simulation;
    this.#simulation = simulation;
    this.#random = random;
    this.#send = simulatorTransport(simulator, time);
    this.#instance = simulatorTransport(simulatorAlone({ deps: time, vmName: simulator.vmName }), time);
  }

  get isWell(): boolean {
    return this.#simulation.time.elapsedMs() > this.#clearAtMs + 30_000;
  }

  readonly service: MetadataTransport = async (request, signal) => {
    if (request.url.includes('/metadata/instance')) return this.#instance(request, signal);
    const answer = await this.#send(request, signal);
    return request.method === 'GET' && answer.status === 200 ? this.#document(answer) : answer;
  };

  /** One to four answers are broken, all in one way, or one or two are empty. */
  misbehave(): void {
    const pick = Math.floor(this.#random() * (BROKEN.length + 2));
    const few = 1 + Math.floor(this.#random() * 2);
    this.#order(BROKEN[pick] ? { ...BROKEN[pick], times: 2 * few } : { status: 200, body: '', times: few }, 30_000);
  }

  /** No good answer until `clear`. */
  outage(lastsMs: number): void {
    this.#order({ ...(this.#random() < 0.5 ? { status: 503 } : { reset: true }), times: 1_000_000 }, lastsMs);
  }

  clear(): void {
    this.#order({}, 0);
  }

  /** The service counts from 1 again, and knows of no event until it has found them again. */
  restart(emptyMs: number): void {
    this.#offset = this.#simulation.simulator.group.events.view.incarnation - 2;
    this.#emptyUntilMs = this.#now + emptyMs;
    this.#given = [];
  }

  /** The next answer is an older one, where there is one that lists nothing that is gone. */
  stale(): void {
    const { group, vmName } = this.#simulation.simulator;
    const listed = new Set(group.events.view.listed(vmName).map(({ EventId }) => EventId));
    const isListed = (text: string) =>
      (JSON.parse(text) as { Events: { EventId: string }[] }).Events.every((event) => listed.has(event.EventId));
    this.#stale = this.#given.slice(0, -1).findLast(isListed) ?? null;
  }

  get #now(): number {
    return this.#simulation.time.elapsedMs();
  }

  #order(order: object, lastsMs: number): void {
    this.#clearAtMs = this.#now + lastsMs;
    this.#simulation.send('PUT', '/simulator/faults', { body: order });
  }

  #document(answer: TransportAnswer): TransportAnswer {
    const isEmpty = this.#now < this.#emptyUntilMs;
    const isUsual = !isEmpty && this.#stale === null;
    if (isUsual && this.#last?.offset === this.#offset && Buffer.compare(this.#last.body, answer.body) === 0)
      return this.#last.answer;
    const text = new TextDecoder().decode(answer.body);
    const found = /^\{"DocumentIncarnation":(\d+),"Events":\[/.exec(text);
    if (found === null) return answer;
    const incarnation = Number(found[1]) - this.#offset;
    const own = isEmpty ? '{"DocumentIncarnation":1,"Events":[]}' : text.replace(/\d+/, String(incarnation));
    const given = this.#stale ?? own;
    this.#stale = null;
    if (!isEmpty && this.#given.at(-1) !== own) this.#given.push(own);
    const changed = { ...answer, body: new TextEncoder().encode(given) };
    if (isUsual) this.#last = { offset: this.#offset, body: answer.body, answer: changed };
    return changed;
  }
}
