// The answers of a bridge on loopback → what `explain` says about windows and budgets.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import { systemDeps } from '../../../../src/time/system.ts';
import { explainVerb } from '../../../../src/verbs/bridge/explain.ts';
import type { VerbContext } from '../../../../src/verbs/verb.ts';

const NEXT = { action: 'approve', at: '2026-11-24T21:00:00Z', by: 'policy[0]' };
const RULE = { policy: 'policy[0]', then: 'approve', waitingFor: [] };
const WINDOW = { name: 'nights', opensAt: '2026-11-24T21:00:00Z', closesAt: '2026-11-25T04:00:00Z' };
const EVENT = {
  ...{ eventId: 'A', eventType: 'Redeploy', eventStatus: 'Scheduled', resources: ['db_0'], approval: null },
  ...{ notBefore: '2026-11-25T09:00:00Z', nextStep: NEXT, rule: RULE },
};

/** The lines before the story. */
async function explained(t: TestContext, more: object, record: object = {}): Promise<readonly string[]> {
  const event = { ...EVENT, ...more };
  const answers = {
    approvals: { eventId: 'A', state: 'none', steps: [], next: null, ...record },
    journal: { items: [], next: null },
    events: { state: 'watching', events: [event] },
  };
  const server = createServer(({ url = '' }, response) => {
    const part = /^\/v1\/(approvals|journal|events)/.exec(url)?.[1] as keyof typeof answers;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers[part]));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const lines: string[] = [];
  const context = {
    ...{ positionals: ['A'], env: {}, deps: systemDeps(), signal: t.signal, stdout: { isTTY: true, columns: 0 } },
    values: { bridge: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    print: async (line: string) => void lines.push(line),
    warn: (line: string) => assert.fail(line),
  };
  assert.equal(await explainVerb.run(context as unknown as VerbContext), 0);
  return lines.slice(2, lines.indexOf('story'));
}

test('the window that an event waits for, and when it closes', async (t) => {
  assert.deepEqual(await explained(t, { rule: { ...RULE, window: WINDOW }, heldBackBy: [] }), [
    'waits for the window nights; if nobody acts: approved by policy[0] at 2026-11-24T21:00:00Z',
    'window nights: opens at 2026-11-24T21:00:00Z, closes at 2026-11-25T04:00:00Z',
  ]);
});

test('the budgets that hold an event back', async (t) => {
  const more = { nextStep: { ...NEXT, at: null }, rule: { ...RULE, window: null }, heldBackBy: ['databases'] };
  assert.deepEqual(await explained(t, more), [
    'held back by the budget databases; if nobody acts: approved by policy[0] as soon as it fits',
  ]);
});

test('the times of a window in its own zone, too', async (t) => {
  const window = { ...WINDOW, timeZone: 'Europe/Berlin' };
  const [, line] = await explained(t, { rule: { ...RULE, window }, heldBackBy: [] });
  assert.equal(
    line,
    'window nights: opens at 2026-11-24T21:00:00Z (22:00 in Europe/Berlin), closes at 2026-11-25T04:00:00Z (05:00 in Europe/Berlin)',
  );
  for (const timeZone of ['UTC', 'Not/AZone']) {
    const [, plain] = await explained(t, { rule: { ...RULE, window: { ...WINDOW, timeZone } }, heldBackBy: [] });
    assert.equal(plain, 'window nights: opens at 2026-11-24T21:00:00Z, closes at 2026-11-25T04:00:00Z');
  }
});

test('what is in use of the budgets that hold an event back', async (t) => {
  const more = { nextStep: { ...NEXT, at: null }, rule: { ...RULE, window: null }, heldBackBy: ['databases'] };
  const machines = [
    { name: 'db_1', eventId: 'B', until: null },
    { name: 'db_2', eventId: null, until: '2026-11-24T12:00:00.000Z' },
  ];
  const budgetUse = [{ name: 'databases', atMost: 1, used: 3, machines }];
  assert.deepEqual((await explained(t, more, { budgetUse })).slice(1), [
    'budget databases: 3 in use, at most 1: db_1 (B), db_2 (until 2026-11-24T12:00:00.000Z), 1 more',
  ]);
});

test('under a hold the window stands in one line alone', async (t) => {
  const approval = { state: 'held', approvedBy: [], holds: [{ approver: 'ops', reason: null }] };
  const nextStep = { action: 'start', at: EVENT.notBefore, by: null };
  const lines = await explained(t, { rule: { ...RULE, window: WINDOW }, heldBackBy: [], approval, nextStep });
  assert.deepEqual(lines, [
    'held by ops; window nights from 2026-11-24T21:00:00Z until 2026-11-25T04:00:00Z; if nobody acts: left to Azure, which starts it at 2026-11-25T09:00:00Z',
  ]);
});

test('a bridge before 0.3.0 sends neither', async (t) => {
  assert.deepEqual(await explained(t, {}), ['if nobody acts: approved by policy[0] at 2026-11-24T21:00:00Z']);
});
