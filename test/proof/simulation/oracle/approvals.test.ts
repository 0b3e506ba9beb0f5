// StartRequests beside documents of the same moment → those that no state allows are found.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Settings } from '../history.ts';
import type { Observation } from '../observation.ts';
import { Approvals, type OpenEvent } from './approvals.ts';
import type { ListedEvent } from './listed-event.ts';

const SETTINGS: Settings = {
  metadata: { pollInterval: '1s', timeout: '10s', settle: '30s' },
  publish: { resources: 'all' },
  approvals: {
    approvers: {},
    required: 'any',
    policy: [{ when: { impacts: ['Reboot'] }, then: 'approve', budgets: ['web'] }],
    budgets: { web: { resources: ['web_*'], atMost: 1 } },
    group: { submit: 'every' },
    dryRun: false,
  },
  sinks: {},
};

type Seen = Observation extends infer Each
  ? Each extends unknown
    ? Omit<Each, 'atMs' | 'wallMs' | 'machine'>
    : never
  : never;

/** One bridge, seen from outside. */
class Site {
  readonly found: string[] = [];
  readonly #approvals: Approvals;
  #open: ReadonlyMap<string, OpenEvent> = new Map();
  #incarnation = 0;

  constructor(settings = SETTINGS) {
    this.#approvals = new Approvals('web_0', settings, (fault, _, what) => this.found.push(`${fault}: ${what}`));
    this.see(0, { kind: 'begun', run: 1, settings });
  }

  see(atMs: number, seen: Seen): void {
    this.#approvals.see({ atMs, wallMs: Date.UTC(2026, 0) + atMs, machine: 0, ...seen } as Observation, this.#open);
  }

  document(atMs: number, ...events: readonly ListedEvent[]): void {
    this.#open = new Map(events.map((event) => [event.EventId, { occurrence: 1, isOwn: true, event }]));
    const text = JSON.stringify({ DocumentIncarnation: ++this.#incarnation, Events: events });
    this.see(atMs, { kind: 'document', text });
  }

  /** A hold or a release of the event `a`, answered at once. */
  ask(atMs: number, request: number, as: string, act: 'hold' | 'release', status: number): void {
    this.see(atMs, { kind: 'request', request, as, act, event: 'a', seen: null });
    this.see(atMs, { kind: 'reply', request, status, body: null });
  }

  post(atMs: number, post: number, eventId: string): void {
    this.see(atMs, { kind: 'posted', post, eventIds: [eventId] });
  }
}

function listed(EventId: string, Resources: readonly string[], more: Partial<ListedEvent> = {}): ListedEvent {
  const texts = { ResourceType: 'VirtualMachine', NotBefore: '', Description: '', EventSource: 'Platform' };
  return { ...texts, EventId, EventStatus: 'Scheduled', EventType: 'Reboot', DurationInSeconds: 9, Resources, ...more };
}

const A = listed('a', ['web_0']);
const NOT_LISTED = [/a: the last document does not list it as Scheduled$/, /a: this bridge knows no such event$/];

function assertFound(found: readonly string[], ...expected: readonly RegExp[]): void {
  assert.equal(found.length, expected.length, found.join('\n'));
  for (const [place, pattern] of expected.entries()) assert.match(found[place] ?? '', pattern);
}

test('an event that has left the list before is not posted', () => {
  const site = new Site();
  site.document(1000, A);
  site.document(2000);
  site.post(2000, 1, 'a');
  assertFound(site.found, NOT_LISTED[1] as RegExp);
});

test('the first of two documents of one moment may approve what the second one does not list', () => {
  const site = new Site();
  site.document(1000, A);
  site.document(1000);
  site.post(1000, 1, 'a');
  assertFound(site.found);
  site.post(1001, 2, 'a');
  assertFound(site.found, NOT_LISTED[1] as RegExp);
});

test('what another process read in this moment approves nothing', () => {
  const site = new Site();
  site.document(1000, A);
  site.document(1000, listed('b', ['web_1'], { EventType: 'Freeze' }));
  site.see(1000, { kind: 'gone', how: 'kill' });
  site.see(1000, { kind: 'begun', run: 2, settings: SETTINGS });
  site.document(1000, { ...A, EventStatus: 'Started' });
  site.post(1000, 1, 'a');
  assertFound(site.found, NOT_LISTED[0] as RegExp);
});

test('at a thaw, the document before may approve while it is 10 s old at most', () => {
  for (const [thawedMs, expected] of [
    [11_000, []],
    [11_001, [NOT_LISTED[1] as RegExp]],
  ] as const) {
    const site = new Site();
    site.document(1000, A);
    site.see(1500, { kind: 'frozen' });
    site.see(thawedMs, { kind: 'thawed' });
    site.document(thawedMs);
    site.post(thawedMs, 1, 'a');
    assertFound(site.found, ...expected);
  }
});

test('at a thaw, two approvals share a budget by the document before or by the new one', () => {
  const site = new Site();
  site.document(1000, A, listed('b', ['web_0']), listed('c', ['web_2']));
  site.see(1500, { kind: 'frozen' });
  site.see(5000, { kind: 'thawed' });
  site.document(5000, A, listed('b', ['web_1']), listed('c', ['web_2']));
  site.post(5000, 1, 'a');
  site.post(5000, 2, 'b');
  assertFound(site.found);
  site.post(5000, 3, 'c');
  assert.match(site.found.join('\n'), /c: .*budget/);
});

test('what was posted for the event of before does not use its budget once it has changed', () => {
  const site = new Site();
  site.document(1000, A, listed('b', ['web_0']));
  site.see(1500, { kind: 'frozen' });
  site.see(5000, { kind: 'thawed' });
  site.document(5000, A, listed('b', ['web_1']));
  site.post(5000, 1, 'b');
  site.see(5000, { kind: 'answered', post: 1, status: 504 });
  site.document(6000, A, listed('b', ['web_1']));
  site.post(6000, 2, 'a');
  assertFound(site.found);
});

test('what was accepted in this moment is not posted again, whichever document counts', () => {
  const site = new Site();
  site.document(1000, A);
  site.document(1000, A);
  site.post(1000, 1, 'a');
  site.see(1000, { kind: 'answered', post: 1, status: 200 });
  assertFound(site.found);
  site.post(1000, 2, 'a');
  assertFound(site.found, /^twice: a was accepted at 1000 ms, and posted again$/);
});

test('of two that are posted in one moment, the last may have been decided first', () => {
  const large = listed('b', ['web_0', 'web_1']);
  const site = new Site();
  site.document(1000, A, large);
  site.post(1000, 1, 'b');
  site.post(1000, 2, 'a');
  assertFound(site.found);
  const later = new Site();
  later.document(1000, A, large);
  later.post(1000, 1, 'b');
  later.post(1001, 2, 'a');
  assert.match(later.found.join('\n'), /a: .*budget/);
  const others = new Site();
  others.document(1000, A, listed('b', ['web_1']));
  others.post(1000, 1, 'b');
  others.post(1000, 2, 'a');
  assert.match(others.found.join('\n'), /a: .*budget/, 'neither order allows it');
});

test('a release that is refused ends no hold', () => {
  for (const [status, expected] of [
    [401, [/a: billing holds it$/]],
    [204, []],
  ] as const) {
    const site = new Site();
    site.document(1000, A);
    site.ask(1000, 1, 'billing', 'hold', 201);
    site.ask(1500, 2, 'billing', 'release', status);
    site.document(2000, A);
    site.post(2000, 1, 'a');
    assertFound(site.found, ...expected);
  }
  const slow = new Site();
  slow.document(1000, A);
  slow.ask(1000, 1, 'billing', 'hold', 201);
  slow.see(1500, { kind: 'request', request: 2, as: 'billing', act: 'release', event: 'a', seen: null });
  for (const atMs of [2000, 3000]) slow.document(atMs, A);
  slow.see(3500, { kind: 'reply', request: 2, status: 401, body: null });
  slow.post(3500, 1, 'a');
  assertFound(slow.found, /a: billing holds it$/);
  const site = new Site();
  site.document(1000, A);
  site.ask(1000, 1, 'billing', 'hold', 201);
  site.ask(1500, 2, 'billing', 'release', 503);
  for (let atMs = 2000; atMs < 40_000; atMs += 1000) site.document(atMs, A);
  assertFound(site.found);
});

test('an admin who holds an event releases only the own hold of it', () => {
  const policy = [{ when: {}, then: 'approve' as const }];
  const approvals = { ...SETTINGS.approvals, approvers: { operator: { admin: true }, billing: {} }, policy };
  const findingsOf = (...holders: readonly string[]) => {
    const site = new Site({ ...SETTINGS, approvals });
    site.document(1000, A);
    for (const [request, holder] of holders.entries()) site.ask(1000, request, holder, 'hold', 201);
    site.ask(1000, holders.length, 'operator', 'release', 204);
    for (let atMs = 2000; atMs < 40_000; atMs += 1000) site.document(atMs, A);
    return site.found;
  };
  assertFound(findingsOf('operator', 'billing'));
  assertFound(findingsOf('operator'), /^lost: a must be approved/);
  assertFound(findingsOf('billing'), /^lost: a must be approved/);
});

test('a yes of the topic that the rule never forbids does not count once the event is milder', () => {
  const policy = [{ when: { impacts: ['Reboot'] }, then: 'never' as const }];
  const approvals = { ...SETTINGS.approvals, approvers: { desk: {} }, policy };
  const freeze = listed('a', ['web_0'], { EventType: 'Freeze' });
  const findingsOf = (first: ListedEvent, settled: 'before' | 'after') => {
    const site = new Site({ ...SETTINGS, approvals });
    if (settled === 'after') site.document(1000, first);
    site.see(1000, { kind: 'told', act: 'approve', event: 'a', message: '1' });
    site.see(1000, { kind: 'settled', message: '1' });
    site.document(2000, first);
    for (let atMs = 3000; atMs < 40_000; atMs += 1000) site.document(atMs, freeze);
    return site.found;
  };
  for (const settled of ['before', 'after'] as const) {
    assertFound(findingsOf(A, settled));
    assertFound(findingsOf(freeze, settled), /^lost: a must be approved/);
  }
});

test('a sink does not hold an event again while another yes of its approver stands', () => {
  const drain = { inFlight: 1, batch: 1, label: 'a', approve: 'orders', hold: true };
  const policy = [{ when: { impacts: ['Reboot'] }, then: 'approve' as const }];
  const settings = { ...SETTINGS, approvals: { ...SETTINGS.approvals, policy }, sinks: { drain } };
  const longer = { ...A, DurationInSeconds: 30 };
  const findingsOf = (status: number) => {
    const site = new Site(settings);
    site.document(1000, longer);
    site.see(2000, { kind: 'request', request: 1, as: 'orders', act: 'approve', event: 'a', seen: null });
    site.see(2000, { kind: 'reply', request: 1, status, body: null });
    site.document(3000, A);
    site.see(3500, { kind: 'prepared', sink: 'drain', id: 'a:scheduled' });
    site.see(3500, { kind: 'receipt', sink: 'drain', ids: ['a:scheduled'] });
    site.document(4000, longer);
    site.post(4000, 1, 'a');
    return site.found;
  };
  assertFound(findingsOf(202));
  assertFound(findingsOf(403), /a: a sink holds it until it is prepared$/);
});
