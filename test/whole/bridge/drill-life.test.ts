// Any order of what befalls drills and a real event beside them → legal lives, and true reports.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import type { DrillReport } from '../../../src/drills/report.ts';
import { BridgeError } from '../../../src/errors.ts';
import type { CloudEvent } from '../../virtual/memory-sinks.ts';
import { accept, always } from '../../virtual/scripted-adapter.ts';
import { MINUTE, SECOND, type Settings, VirtualBridge } from '../../virtual/virtual-bridge.ts';

/** More of them by DRILL_RUNS, others by DRILL_SEED. */
const RUNS = Number(process.env['DRILL_RUNS'] ?? 15);
const SEED = Number(process.env['DRILL_SEED'] ?? 19);

const CHANGES = [
  'scheduled',
  'updated',
  'started',
  'ended',
  'approval.recorded',
  'approval.submitted',
  'approval.failed',
];
const AWAY = new BridgeError('BRIDGE_SINK_REFUSED', 'away', { disposition: 'retry' });
const NAMES = ['orders', 'billing'] as const;

/** By which nobody but approvers approves, but the last one. */
const APPROVALS: readonly object[] = [
  {},
  { required: 'all' },
  { required: ['billing'], dryRun: true },
  { policy: [{ when: {}, then: 'wait', deadline: { before: '20s', then: 'approve' } }] },
  { policy: [{ when: { impacts: ['Redeploy'] }, then: 'approve' }] },
];

function settingsOf(which: number, hasExtra: boolean): Settings {
  const approvers = {
    orders: { token: { env: 'ORDERS_TOKEN' }, admin: true },
    billing: { token: { env: 'BILLING_TOKEN' } },
  };
  const audit = { type: 'memory', filter: { changes: CHANGES } };
  return {
    approvals: { approvers, ...APPROVALS[which] },
    sinks: { audit, ...(hasExtra && { extra: { type: 'memory' } }) },
  };
}

const [seconds, which] = [fc.nat(60), fc.nat(2)];
const by = fc.constantFrom(...NAMES);
const command = fc.oneof(
  fc.record({
    kind: fc.constant('begin'),
    notice: seconds,
    duration: fc.nat(30),
    type: fc.constantFrom('Reboot', 'Redeploy'),
  }),
  fc.record({ kind: fc.constantFrom('approve', 'hold', 'release', 'cancel', 'approve all'), which, by }),
  fc.record({ kind: fc.constant('reload'), to: fc.nat(APPROVALS.length - 1), hasExtra: fc.boolean() }),
  fc.record({ kind: fc.constantFrom('kill', 'stop', 'pass', 'wall'), seconds }),
  fc.record({ kind: fc.constantFrom('service away', 'service back', 'sink down', 'sink up') }),
);
type Command = Parameters<Parameters<typeof command.map>[0]>[0];

class Play {
  readonly bridge: VirtualBridge;
  readonly real: string;
  readonly ids: string[] = [];
  /** The StartRequests that left, as they were sent. */
  readonly posted: string[] = [];
  #mayPost = false;

  constructor(t: TestContext) {
    this.bridge = new VirtualBridge(t, settingsOf(0, true));
    this.real = this.bridge.simulation.schedule({ EventType: 'Freeze' }).EventId;
    const usual = this.bridge.service;
    this.bridge.service = (request, signal) => {
      if (request.method === 'POST') this.posted.push(String(request.body));
      return usual(request, signal);
    };
  }

  async do(given: Command): Promise<void> {
    const { bridge } = this;
    if (given.kind === 'begin' && 'notice' in given) await this.#begin(given);
    if ('by' in given) await this.#ask(given.kind, this.ids[given.which], given.by);
    if ('to' in given) await this.#reload(given.to, given.hasExtra);
    if ((given.kind === 'kill' || given.kind === 'stop') && 'seconds' in given) {
      await bridge[given.kind]();
      await bridge.advance(given.seconds * SECOND);
      await bridge.startFor(2 * SECOND);
    }
    if (given.kind === 'wall' && 'seconds' in given) bridge.time.jumpWall((given.seconds - 30) * SECOND);
    if (given.kind === 'pass' && 'seconds' in given) await bridge.advance(given.seconds * SECOND);
    if (given.kind === 'service away') bridge.simulation.order('PUT', '/faults', { status: 500, for: '1h' }, 204);
    if (given.kind === 'service back') bridge.simulation.order('PUT', '/faults', {}, 204);
    if (given.kind === 'sink down') bridge.sink('audit').answer = always(AWAY);
    if (given.kind === 'sink up') bridge.sink('audit').answer = accept;
    await bridge.advance(SECOND);
  }

  async #begin({ notice, duration, type }: { notice: number; duration: number; type: string }): Promise<void> {
    const body = { force: true, notice: `${notice}s`, duration: `${duration}s`, eventType: type };
    const { status, body: told } = await this.bridge.request('POST', '/v1/drills', { as: 'orders', body });
    // A process that could not ask yet which VM this is begins none.
    assert.ok(status === 201 || status === 503, JSON.stringify(told));
    if (status === 201) this.ids.unshift((told as { id: string }).id);
  }

  async #ask(kind: string, id: string | undefined, as: (typeof NAMES)[number]): Promise<void> {
    if (id === undefined) return;
    const [EventId, { bridge }] = [`drill-${id}`, this];
    if (kind === 'approve')
      await bridge.request('POST', '/v1/approvals', { as, body: { StartRequests: [{ EventId }] } });
    if (kind === 'approve all') {
      this.#mayPost = true;
      await bridge.request('POST', '/v1/approvals', {
        as,
        body: { StartRequests: [{ EventId: this.real }, { EventId }] },
      });
    }
    if (kind === 'hold') await bridge.request('POST', '/v1/holds', { as, body: { EventId, reason: 'busy' } });
    if (kind === 'release') await this.#remove(`/v1/holds/${EventId}`, as);
    if (kind === 'cancel') await this.#remove(`/v1/drills/${id}`, 'orders');
  }

  async #remove(path: string, as: string): Promise<void> {
    const headers = { authorization: `Bearer token-of-the-${as}-service` };
    await this.bridge.during(
      fetch(`${this.bridge.bridge.url}${path}`, { method: 'DELETE', headers }).then((answer) => answer.text()),
    );
  }

  async #reload(to: number, hasExtra: boolean): Promise<void> {
    if ('policy' in (APPROVALS[to] ?? {})) this.#mayPost = true;
    assert.equal((await this.bridge.reload(settingsOf(to, hasExtra))).kind, 'applied');
  }

  /** Everything works again, and all that is due has had its time. */
  async settle(): Promise<void> {
    await this.do({ kind: 'service back' });
    await this.do({ kind: 'sink up' });
    await this.bridge.advance(10 * MINUTE);
  }

  async check(): Promise<void> {
    const events = distinct(this.bridge.sink('audit').events);
    for (const id of this.ids) this.#checkDrill(await this.#report(id), events);
    const real = events.filter(({ data }) => data.eventId === this.real);
    assert.ok(real.every((event) => !('drill' in event) && !('drill' in event.data)));
    const ofDrills = events.filter(({ data }) => data.eventId.startsWith('drill-'));
    assert.ok(ofDrills.every((event) => 'drill' in event && event['drill'] === true && event.data['drill'] === true));
    assert.equal(real.length + ofDrills.length, events.length);
    assert.ok(
      this.posted.every((body) => body === JSON.stringify({ StartRequests: [{ EventId: this.real }] })),
      this.posted.join(),
    );
    if (!this.#mayPost) {
      assert.deepEqual(this.posted, []);
      assert.deepEqual(
        real.map(changeOf).filter((change) => change.startsWith('approval.')),
        [],
      );
    }
    assert.deepEqual(this.bridge.logged('a step of a drill could not be stored'), []);
    assert.deepEqual(
      this.bridge.logs.filter(({ level }) => level >= 60),
      [],
    );
  }

  #checkDrill(report: DrillReport, events: readonly CloudEvent[]): void {
    const told = events.filter(({ data }) => data.eventId === report.eventId).map(changeOf);
    const life = told.filter((change) => !change.startsWith('approval.'));
    const lives =
      report.state === 'ended' ? ['scheduled,started,ended'] : ['scheduled,ended', 'scheduled,started,ended'];
    assert.ok(['ended', 'canceled'].includes(report.state) && lives.includes(life.join()), `${report.state}: ${told}`);
    const startsAt = told.indexOf('started');
    for (const change of ['approval.recorded', 'approval.submitted'])
      assert.ok(told.lastIndexOf(change) < (startsAt === -1 ? told.length - 1 : startsAt), told.join());
    assert.ok(told.filter((change) => change === 'approval.submitted').length <= 1, told.join());
    assert.equal(told.at(-1), 'ended');
    assert.deepEqual(
      report.changes.map(({ change }) => change),
      told,
    );
    for (const { sinks, change } of report.changes) {
      const audit = sinks.find(({ name }) => name === 'audit');
      assert.ok(audit !== undefined && audit.acceptedAt !== null && audit.attempts > 0, change);
    }
    const missing = told.includes('approval.submitted') ? report.missing : [];
    assert.deepEqual(missing, []);
    assert.equal(report.approvers.length > 0, told.includes('approval.recorded'), JSON.stringify(report));
  }

  async #report(id: string): Promise<DrillReport> {
    return (await this.bridge.request('GET', `/v1/drills/${id}`, { as: 'billing' })).body as DrillReport;
  }
}

function changeOf({ type }: CloudEvent): string {
  return /(?:approval\.)?[a-z]+(?=\.v1$)/.exec(type)?.[0] ?? type;
}

/** A process that was killed delivers again what it had not noted as delivered. */
function distinct(events: readonly CloudEvent[]): readonly CloudEvent[] {
  return [...new Map(events.map((event) => [event.id, event])).values()];
}

test('after any faults, a drill has a legal life, changes no real event, and its report equals what its sinks received', async (t) => {
  const property = fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 25 }), async (commands) => {
    const play = new Play(t);
    await play.bridge.startFor(2 * SECOND);
    for (const given of commands) await play.do(given);
    await play.settle();
    await play.check();
    await play.bridge.kill();
  });
  await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: false });
});
