// Random traces of the model of a group → the same StartRequests by real bridges.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { temporaryFolder } from '../../virtual/outbox-fixture.ts';
import { VirtualGroup } from '../../virtual/virtual-group.ts';
import { settle } from '../../virtual/virtual-time.ts';
import { explore, type Trace, type TracePost, type TraceStep, WITNESSES } from './traces.ts';

const SEED = 20_261_124;
/** As in the model: `FAILOVER` is two of them. */
const TICK_MS = 5000;
/** The answer of a bridge that is to be killed before it stores it. */
const LATE_MS = 4000;

const SETTINGS = {
  // No answer is given up before the bridge is killed.
  metadata: { timeout: '30s' },
  approvals: {
    approvers: { orders: {}, billing: {} },
    required: 'all' as const,
    sources: { orders: { type: 'memory', approver: 'orders' }, billing: { type: 'memory', approver: 'billing' } },
    group: { submit: 'leader', failoverAfter: `${(2 * TICK_MS) / 1000}s` },
  },
};

const BODIES = { approve: 'StartRequests', hold: 'Holds', release: 'Releases' } as const;

class Player {
  readonly #group: VirtualGroup;
  #eventId = '';
  #beganMs = 0;
  #tick = 0;

  constructor(t: TestContext) {
    this.#group = new VirtualGroup(t, SETTINGS);
  }

  /** Plays a trace, and returns who posted in which tick. */
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

  async #do({ name, bridge, kind, approver }: TraceStep): Promise<void> {
    const machine = () => this.#group.machine(bridge);
    if (name === 'read' && kind !== '')
      machine()
        .bridge.source(approver)
        .send({ [BODIES[kind]]: [{ EventId: this.#eventId }] });
    if (name === 'arm') machine().transit.backMs = LATE_MS;
    if (name === 'kill') this.#kill(bridge);
    if (name === 'restart') await machine().bridge.start();
    if (name === 'start') this.#group.change(this.#eventId, { EventStatus: 'Started' });
    if (name === 'start' || name === 'tick') await this.#nextTick();
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
  }

  async #settle(): Promise<void> {
    await settle();
    await this.#group.time.advance(0);
  }
}

/** Within one tick, real bridges post in no certain order. */
function byTick(posts: readonly TracePost[]): readonly TracePost[] {
  return posts.toSorted(([one, oneTick], [other, otherTick]) => oneTick - otherTick || one - other);
}

test('random traces of the model are played by real bridges: the same ranks post, in the same ticks', async (t) => {
  const found = explore(temporaryFolder(t), { seed: SEED, samples: 200, steps: 60, traces: 40 });
  assert.ok(found.isClean, found.report);
  for (const witness of WITNESSES)
    assert.match(found.report, new RegExp(`${witness} was witnessed in [1-9]`), found.report);
  assert.ok(found.traces.length > 0);
  for (const [index, trace] of found.traces.entries()) {
    await t.test(`trace ${index} of the seed ${SEED}`, async (t) => {
      const posted = await new Player(t).play(trace);
      const history = trace.steps.map(({ name, bridge, kind, approver }) =>
        [name, bridge === -1 ? '' : bridge, kind, approver].join(' ').trim(),
      );
      assert.deepEqual(byTick(posted), byTick(trace.posts), history.join('; '));
    });
  }
});
