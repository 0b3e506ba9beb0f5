// Any interleaving of documents, approvals, holds, crashes and time → no StartRequest that the policy in force did not allow, none missing that it demanded.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { ScheduledEvent } from '../../../src/model/events.ts';
import { type Act, act, config, EVENT_IDS } from './approvals-commands.ts';
import { ApprovalsWorld } from './approvals-model.ts';
import type { OracleAct, OracleRequest } from './approvals-oracle.ts';
import type { OracleConfig } from './approvals-oracle-rules.ts';
import type { Channel } from './approvals-process.ts';

/** More of them by APPROVALS_RUNS, others by APPROVALS_SEED. */
const RUNS = Number(process.env['APPROVALS_RUNS'] ?? 1500);
const SEED = Number(process.env['APPROVALS_SEED'] ?? 8);

async function play(world: ApprovalsWorld, configs: readonly OracleConfig[], given: Act): Promise<void> {
  world.tick();
  if (given.kind === 'list') world.list(given.id, contentOf(world, given.id, given.fields));
  if (given.kind === 'start' && world.event(given.id)) world.list(given.id, { eventStatus: 'Started', notBefore: null });
  if (given.kind === 'unstart' && world.event(given.id)) world.list(given.id, { eventStatus: 'Scheduled' });
  if (given.kind === 'end') world.end(given.id);
  if (given.kind === 'hide') world.hide(given.id, false);
  if (['list', 'start', 'unstart', 'end', 'hide', 'poll'].includes(given.kind)) world.poll();
  if (given.kind === 'ask') await ask(world, given);
  if (given.kind === 'hold' || given.kind === 'release' || given.kind === 'hold and ask') await hold(world, given);
  if (given.kind === 'restart') await world.restart(configs[given.which] ?? world.config, given.inOrder);
  if (given.kind === 'kill') world.kill = given.at;
  if (given.kind === 'wait') await world.wait(given.ms);
  if (given.kind === 'answers') world.answers = [...given.answers];
  if (given.kind === 'away') world.isAway = true;
  if (given.kind === 'blind') world.goBlind();
  if (given.kind === 'crowd') world.isCrowded = !world.isCrowded;
  if (given.kind === 'full') world.fill(true);
  if (given.kind === 'room') world.fill(false);
  if (given.kind === 'back') {
    world.isAway = false;
    world.poll();
  }
  await world.wait(0);
  world.check();
}

const FIRST = { eventType: 'Reboot', durationInSeconds: 5, resources: ['web_0', 'WEB_1'], eventSource: 'Platform', noticeS: 150 };

function contentOf(world: ApprovalsWorld, eventId: string, fields: Partial<(Act & { kind: 'list' })['fields']>): Partial<ScheduledEvent> {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const { noticeS, ...content }: Partial<typeof FIRST> = world.event(eventId) ? given : { ...FIRST, ...given };
  const beginMs = Math.ceil(world.time.wallMs() / 1000) * 1000;
  const notBefore = noticeS === undefined ? null : new Date(beginMs + noticeS * 1000).toISOString().replace('.000', '');
  return { ...content, ...(notBefore !== null && { notBefore }), eventStatus: 'Scheduled' };
}

async function ask(world: ApprovalsWorld, { ids, approver: who, channel: by, seen }: Act & { kind: 'ask' }): Promise<void> {
  const known = world.seenIds;
  const seenId = seen === undefined ? undefined : (known[known.length - 1 - (seen % (known.length + 1))] ?? 'nonsense');
  const told = seenId === undefined ? undefined : (world.store.journal.seen(seenId) ?? ('nonsense' as const));
  const starts = ids.map((each): OracleRequest => ({ key: each.toLowerCase(), seen: told }));
  await world.act(by, actOf(world, who, by, { starts }), seenId);
}

async function hold(
  world: ApprovalsWorld,
  { kind, id: eventId, approver: who, channel: by }: Extract<Act, { kind: 'hold' | 'release' | 'hold and ask' }>,
): Promise<void> {
  const key = eventId.toLowerCase();
  const isBoth = kind === 'hold and ask' && by !== 'http';
  const parts = { ...(kind === 'release' ? { releases: [key] } : { holds: [key] }), ...(isBoth && { starts: [{ key }] }) };
  await world.act(by, actOf(world, who, by, parts), undefined);
}

function actOf(world: ApprovalsWorld, who: string, by: Channel, parts: Partial<OracleAct>): OracleAct {
  const sentMs = by === 'http' ? null : world.time.wallMs();
  return { approver: who, isShared: by === 'topic', sentMs, holds: [], releases: [], starts: [], ...parts };
}

/** The service answers, the disk has room, and time passes. */
async function finish(world: ApprovalsWorld, isReleased: boolean): Promise<void> {
  world.answers = [];
  world.kill = null;
  world.isAway = false;
  world.fill(false);
  for (const each of EVENT_IDS) world.hide(each, true);
  world.poll();
  for (const each of isReleased ? EVENT_IDS : [])
    await world.act('http', actOf(world, 'ops', 'http', { releases: [each.toLowerCase()] }), undefined);
  const beginMs = world.time.wallMs();
  for (let round = 0; round < 9; round++) {
    await world.wait(8000);
    world.poll();
    await world.wait(1);
    world.check();
    world.checkComplete(beginMs, 20_000);
  }
}

test('for any interleaving each StartRequest was allowed when it was posted, and each that was demanded has been', async () => {
  let posts = 0;
  let together = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(config, config),
      fc.array(act, { minLength: 3, maxLength: 40, size: 'max' }),
      fc.boolean(),
      async (configs, acts, isReleased) => {
        const world = new ApprovalsWorld(configs[0]);
        world.list('Aa', contentOf(world, 'Aa', {}));
        world.poll();
        for (const each of acts) await play(world, configs, each);
        await finish(world, isReleased);
        posts += world.posts;
        together = Math.max(together, world.most);
      },
    ),
    { numRuns: RUNS, seed: SEED },
  );
  assert.equal(together, 2, 'two events stood in one request');
  assert.ok(posts > RUNS / 4, `only ${posts} StartRequests were seen`);
});
