// A trace of the model → StartRequests and answers to holds of three real bridges in virtual time.
import type { TestContext } from 'node:test';
import { VirtualGroup } from '../../virtual/virtual-group.ts';
import { settle } from '../../virtual/virtual-time.ts';
import { expect } from '../found-fault.ts';
import type { Trace, TracePost, TraceStep } from './traces.ts';

/** As in the model: `FAILOVER` is two of them. */
const TICK_MS = 5000;
/** The answer of a bridge that is to be killed before it stores it. */
const LATE_MS = 4000;
/** In real time. An answer needs no virtual time, so none may pass on a busy machine. */
const PATIENCE_MS = 30_000;

const SETTINGS = {
  // No answer is given up before the bridge is killed.
  metadata: { timeout: '30s' },
  approvals: {
    approvers: { orders: { token: { env: 'ORDERS_TOKEN' } }, billing: { token: { env: 'BILLING_TOKEN' } } },
    required: 'all' as const,
    sources: { orders: { type: 'memory', approver: 'orders' }, billing: { type: 'memory', approver: 'billing' } },
    group: { submit: 'leader', failoverAfter: `${(2 * TICK_MS) / 1000}s` },
  },
};

const BODIES = { approve: 'StartRequests', hold: 'Holds', release: 'Releases' } as const;

export class Player {
  readonly #group: VirtualGroup;
  /** How many processes it killed. */
  kills = 0;
  #eventId = '';
  #beganMs = 0;
  #tick = 0;

  constructor(t: TestContext) {
    this.#group = new VirtualGroup(t, SETTINGS);
  }

  /** Plays a trace, and returns who posted in which tick. @throws FoundFault for another answer to a hold */
  async play({ steps }: Trace): Promise<readonly TracePost[]> {
    await this.#group.start(0, 1, 2);
    // The platform accepts a StartRequest and starts the event much later.
    const fields = { otherTenants: '10h', notice: '10h', Resources: ['sim_0', 'sim_1', 'sim_2'] };
    this.#eventId = this.#group.schedule(fields);
    await this.#group.advance(2);
    this.#beganMs = this.#group.time.elapsedMs();
    for (const step of steps) {
      await this.#do(step);
      await this.#settle();
      for (const index of step.lost) this.#kill(index);
    }
    // The service's own journal counts from the schedule of the event.
    return this.#group
      .posts()
      .map(([vm, seconds]) => [Number(vm.slice('sim_'.length)), Math.floor((seconds - 2) / (TICK_MS / 1000))]);
  }

  async #do(step: TraceStep): Promise<void> {
    const { name, bridge, kind, approver } = step;
    const machine = () => this.#group.machine(bridge);
    if (name === 'read' && kind !== '')
      machine()
        .bridge.source(approver)
        .send({ [BODIES[kind]]: [{ EventId: this.#eventId }] });
    if (name === 'arm') machine().transit.backMs = LATE_MS;
    if (name === 'kill') this.#kill(bridge);
    if (name === 'restartCutOff') machine().cutOff = 'events';
    if (name === 'restart' || name === 'restartCutOff') await machine().bridge.start();
    if (name === 'hold' && approver !== '') await this.#hold(step, approver);
    if (name === 'start') this.#group.change(this.#eventId, { EventStatus: 'Started' });
    if (name === 'start' || name === 'tick') await this.#nextTick();
  }

  async #hold({ bridge, isHeld, situation }: TraceStep, as: 'orders' | 'billing'): Promise<void> {
    const options = { as, body: { EventId: this.#eventId }, patienceMs: PATIENCE_MS };
    const { status, body } = await this.#group.machine(bridge).bridge.request('POST', '/v1/holds', options);
    expectHold(status, isHeld, `bridge ${bridge} in tick ${this.#tick} ${situation}: ${JSON.stringify(body)}`);
  }

  #nextTick(): Promise<void> {
    const { time } = this.#group;
    return time.advance(this.#beganMs + ++this.#tick * TICK_MS - time.elapsedMs());
  }

  /** Does not wait for the end of the process, which waits for its answer in virtual time. */
  #kill(index: number): void {
    const machine = this.#group.machine(index);
    void machine.bridge.kill();
    machine.transit.backMs = 0;
    machine.cutOff = 'none';
    this.kills += 1;
  }

  async #settle(): Promise<void> {
    await settle();
    await this.#group.time.advance(0);
  }
}

/** A bridge accepts a hold unless a StartRequest may have been accepted. @throws FoundFault */
export function expectHold(status: number, isHeld: boolean, what: string): void {
  const words = `the answer to a hold is ${status}, and of the model ${isHeld ? '201' : '409'}: ${what}`;
  expect(status === (isHeld ? 201 : 409), isHeld ? 'lost' : 'forbidden', words);
}
