// The windows and budgets of docs/approve → their configurations, played over days in virtual time.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ADAPTERS } from '../../adapters/index.ts';
import { readConfig } from '../../src/config/read-config.ts';
import type { ScheduledEvent } from '../../src/model/events.ts';
import { surroundings, TOKEN } from '../support/config.ts';
import { ApprovalsFixture, approve, STARTED, said } from '../virtual/approvals-fixture.ts';
import { settle } from '../virtual/virtual-time.ts';
import { codeBlocksOf } from './markdown-page.ts';

const AROUND = { ...surroundings({ OPS_TOKEN: TOKEN }), adapters: ADAPTERS };

const [sundays, nightsOrAsk, nightsAndDatabases, predicted] = [
  blockOf('policy.md', /sundays:/),
  blockOf('policy.md', /otherwise: wait/),
  blockOf('policy.md', /databases: .*\n.*\n.*during: \[nights\]/),
  blockOf('cases/predicted-failure.md', /sundays:/),
];

function blockOf(page: string, text: RegExp): string {
  const blocks = codeBlocksOf(`docs/approve/${page}`).filter(({ language, text: yaml }) => {
    return language === 'yaml' && text.test(yaml);
  });
  assert.equal(blocks.length, 1, `${page} has one block with ${text}`);
  return blocks[0]?.text ?? '';
}

function settingsOf(yaml: string) {
  const read = readConfig(yaml, AROUND);
  const options = 'options' in read ? read.options : assert.fail(JSON.stringify(read.faults));
  const { approvers, required, policy, windows, budgets } = options.approvals;
  return { approvers, required, policy, windows, budgets };
}

/** From 1 January 2026, a Thursday, at 01:00 in Berlin. */
function bridgeOf(t: TestContext, yaml: string) {
  const fixture = new ApprovalsFixture();
  const settings = settingsOf(yaml);
  let approvals = fixture.open(settings);
  t.after(() => fixture.close(approvals));
  return {
    fixture,
    approvals: () => approvals,
    /** To this time of UTC in January 2026, with a document. */
    until: async (time: string) => {
      await fixture.time.advance(Date.parse(`2026-01-${time}Z`) - fixture.time.wallMs());
      fixture.poll();
      await settle();
    },
    restart: () => {
      approvals = fixture.open(settings);
      fixture.poll();
    },
    list: (eventId: string, notBefore: string, fields: Partial<ScheduledEvent> = {}) => {
      fixture.list(eventId, {
        ...{ eventType: 'Redeploy', eventSource: 'Platform', resources: [eventId], durationInSeconds: -1 },
        ...{ notBefore: `2026-01-${notBefore}Z`, ...fields },
      });
      fixture.poll();
    },
    end: (eventId: string) => {
      fixture.end(eventId);
      fixture.poll();
    },
    /** `MACHINE DAYThh:mm`, each StartRequest. */
    posted: () =>
      fixture.posts.map(({ eventIds, atMs }) => {
        const at = new Date(Date.UTC(2026, 0, 1) + atMs).toISOString().slice(8, 16);
        return `${eventIds.join(' ')} ${at}`;
      }),
    next: (eventId: string) => approvals.nextStep(eventId.toLowerCase()),
  };
}

for (const [name, yaml] of Object.entries({ sundays, nightsOrAsk, nightsAndDatabases })) {
  test(`the configuration ${name} of policy.md is complete in at most ten lines`, () => {
    assert.ok(yaml.trimEnd().split('\n').length <= 10);
    assert.match(yaml, /^version: 1$/m);
    assert.match(yaml, /^sinks: /m);
  });
}

test('redeploys at night, never two databases at once, the rest is left to Azure', async (t) => {
  const bridge = bridgeOf(t, nightsAndDatabases);
  await bridge.until('01T11:00:00');
  bridge.list('db_0', '04T11:00:00');
  bridge.list('db_1', '03T11:00:00');
  bridge.list('db_2', '05T11:00:00');
  bridge.list('web_0', '04T12:00:00');
  bridge.list('web_1', '01T11:10:00');
  bridge.list('web_2', '03T11:00:00', { eventType: 'Reboot' });
  assert.deepEqual(bridge.next('web_0').nextStep, {
    ...{ action: 'approve', at: '2026-01-01T21:00:00.000Z', by: 'policy[0]' },
  });
  for (const left of ['web_1', 'web_2']) assert.equal(bridge.next(left).nextStep.action, 'start', left);
  await bridge.until('01T20:59:59');
  assert.deepEqual(bridge.posted(), []);
  await bridge.until('01T21:05:00');
  assert.deepEqual(bridge.posted().toSorted(), ['db_1 01T21:00', 'web_0 01T21:00']);
  for (const held of ['db_0', 'db_2']) {
    const { nextStep, heldBackBy } = bridge.next(held);
    assert.deepEqual([nextStep.action, nextStep.at, heldBackBy], ['approve', null, ['databases']], held);
  }
  bridge.fixture.list('db_1', STARTED);
  await bridge.until('01T21:20:00');
  bridge.end('db_1');
  await bridge.until('01T21:29:59');
  assert.equal(bridge.posted().length, 2);
  await bridge.until('01T21:31:00');
  assert.deepEqual(bridge.posted().slice(2), ['db_0 01T21:30']);
  // It runs until the window has closed, so the last database waits for the next night.
  bridge.fixture.list('db_0', STARTED);
  await bridge.until('02T04:30:00');
  await bridge.until('02T06:00:00');
  bridge.end('db_0');
  await bridge.until('02T20:59:00');
  assert.equal(bridge.posted().length, 3);
  await bridge.until('02T21:01:00');
  assert.deepEqual(bridge.posted().slice(3), ['db_2 02T21:00']);
});

for (const [page, yaml] of Object.entries({ 'policy.md': sundays, 'predicted-failure.md': predicted })) {
  test(`${page}: predicted failures are approved on Sunday, after a restart too, and routine ones are not`, async (t) => {
    const bridge = bridgeOf(t, yaml);
    bridge.list('web_0', '08T00:00:00');
    await bridge.until('04T00:50:00');
    bridge.list('web_1', '04T10:00:00');
    bridge.list('web_2', '04T01:10:00', { notBefore: '2026-01-04T01:00:00Z' });
    bridge.restart();
    assert.deepEqual(bridge.posted(), []);
    await bridge.until('04T01:01:00');
    assert.deepEqual(bridge.posted().toSorted(), ['web_0 04T01:00', 'web_1 04T01:00']);
  });
}

test('at night without asking, by day only with a yes', async (t) => {
  const bridge = bridgeOf(t, nightsOrAsk);
  await bridge.until('01T11:00:00');
  bridge.list('web_0', '01T11:10:00');
  bridge.list('web_1', '02T11:00:00');
  assert.deepEqual(bridge.next('web_0').rule?.waitingFor, ['ops']);
  assert.equal(said(await approve(bridge.approvals(), 'ops', 'web_0')), '200 submitted');
  await bridge.until('01T21:01:00');
  assert.deepEqual(bridge.posted(), ['web_0 01T11:00', 'web_1 01T21:00']);
});
