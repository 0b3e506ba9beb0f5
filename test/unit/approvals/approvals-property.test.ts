// Any order of documents, approvals, crashes, time → the StartRequests that the policy demanded.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { ScheduledEvent } from '../../../src/model/events.ts';
import { type Command, command, configs, EVENT_IDS } from './approvals-commands.ts';
import { ApprovalsModel } from './approvals-model.ts';
import type { OracleCommand, OracleRequest } from './approvals-oracle.ts';
import type { OracleConfig } from './approvals-oracle-rules.ts';
import type { Answer, Channel } from './approvals-process.ts';

const DEFAULT = { runs: 1500, seed: 8 };
/**
 * Any count and any seed will do: only the default run, or a longer one of its seed, must also reach the rare cases.
 */
const RUNS = Number(process.env['APPROVALS_RUNS'] ?? DEFAULT.runs);
const SEED = Number(process.env['APPROVALS_SEED'] ?? DEFAULT.seed);

async function play(model: ApprovalsModel, configs: readonly OracleConfig[], given: Command): Promise<void> {
  model.tick();
  if (given.kind === 'list') model.list(given.id, contentOf(model, given.id, given.fields));
  if (given.kind === 'start' && model.event(given.id))
    model.list(given.id, { eventStatus: 'Started', notBefore: null });
  if (given.kind === 'unstart' && model.event(given.id)) model.list(given.id, { eventStatus: 'Scheduled' });
  if (given.kind === 'end') model.end(given.id);
  if (given.kind === 'hide') model.hide(given.id, false);
  if (['list', 'start', 'unstart', 'end', 'hide', 'poll'].includes(given.kind)) model.poll();
  if (given.kind === 'ask') await ask(model, given);
  if (given.kind === 'hold' || given.kind === 'release' || given.kind === 'hold and ask') await hold(model, given);
  if (given.kind === 'prepare') await prepare(model, configs, given);
  if (given.kind === 'restart') await model.restart(configs[given.which] ?? model.config, given.inOrder);
  if (given.kind === 'reload') await model.reload(configs[given.which] ?? model.config);
  if (given.kind === 'kill') model.kill = given.at;
  if (given.kind === 'wait') await model.wait(given.ms);
  if (given.kind === 'answers') model.answers = [...given.answers];
  if (given.kind === 'away') model.isAway = true;
  if (given.kind === 'blind') model.goBlind();
  if (given.kind === 'crowd') model.isCrowded = !model.isCrowded;
  if (given.kind === 'full') model.fill(true);
  if (given.kind === 'room') model.fill(false);
  if (given.kind === 'back') {
    model.isAway = false;
    model.poll();
  }
  await model.wait(0);
  model.check();
}

const FIRST = {
  eventType: 'Reboot',
  durationInSeconds: 5,
  resources: ['web_0', 'WEB_1'],
  eventSource: 'Platform',
  noticeS: 150,
};

function contentOf(
  model: ApprovalsModel,
  eventId: string,
  fields: Partial<(Command & { kind: 'list' })['fields']>,
): Partial<ScheduledEvent> {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const { noticeS, ...content }: Partial<typeof FIRST> = model.event(eventId) ? given : { ...FIRST, ...given };
  const beginMs = Math.ceil(model.time.wallMs() / 1000) * 1000;
  const notBefore = noticeS === undefined ? null : new Date(beginMs + noticeS * 1000).toISOString().replace('.000', '');
  return { ...content, ...(notBefore !== null && { notBefore }), eventStatus: 'Scheduled' };
}

async function ask(
  model: ApprovalsModel,
  { ids, approver: who, channel: by, seen }: Command & { kind: 'ask' },
): Promise<void> {
  const known = model.seenIds;
  const seenId = seen === undefined ? undefined : (known[known.length - 1 - (seen % (known.length + 1))] ?? 'nonsense');
  const told = seenId === undefined ? undefined : (model.store.journal.seen(seenId) ?? ('nonsense' as const));
  const starts = ids.map((each): OracleRequest => ({ key: each.toLowerCase(), seen: told }));
  await model.perform(by, commandOf(model, who, by, { starts }), seenId);
}

async function hold(
  model: ApprovalsModel,
  { kind, id: eventId, approver: who, channel: by }: Extract<Command, { kind: 'hold' | 'release' | 'hold and ask' }>,
): Promise<void> {
  const key = eventId.toLowerCase();
  const isBoth = kind === 'hold and ask' && by !== 'http';
  const parts = {
    ...(kind === 'release' ? { releases: [key] } : { holds: [key] }),
    ...(isBoth && { starts: [{ key }] }),
  };
  await model.perform(by, commandOf(model, who, by, parts), undefined);
}

/** A sink, of this configuration or of one before, is done with one of the newest CloudEvents. */
async function prepare(
  model: ApprovalsModel,
  configs: readonly OracleConfig[],
  { which, seen, isOld }: Command & { kind: 'prepare' },
): Promise<void> {
  const sinks = isOld ? configs.flatMap(({ holdingSinks }) => [...holdingSinks]) : [...model.config.holdingSinks];
  const [sink, approver] = sinks[which % Math.max(1, sinks.length)] ?? [];
  const seenId = model.seenIds[model.seenIds.length - 1 - seen];
  if (sink !== undefined && approver !== undefined && seenId !== undefined) await model.prepare(sink, approver, seenId);
}

function commandOf(model: ApprovalsModel, who: string, by: Channel, parts: Partial<OracleCommand>): OracleCommand {
  const sentMs = by === 'http' ? null : model.time.wallMs();
  return {
    approver: who,
    isShared: by === 'topic',
    via: by === 'http' ? null : by,
    sentMs,
    holds: [],
    releases: [],
    starts: [],
    ...parts,
  };
}

/** The service answers, the disk has room, and time passes. */
async function finish(model: ApprovalsModel, isReleased: boolean): Promise<void> {
  model.answers = [];
  model.kill = null;
  model.isAway = false;
  model.fill(false);
  for (const each of EVENT_IDS) model.hide(each, true);
  model.poll();
  for (const each of isReleased ? EVENT_IDS : [])
    await model.perform('http', commandOf(model, 'ops', 'http', { releases: [each.toLowerCase()] }), undefined);
  const beginMs = model.time.wallMs();
  for (let round = 0; round < 9; round++) {
    await model.wait(8000);
    model.poll();
    await model.wait(1);
    model.check();
    model.checkComplete(beginMs, 20_000);
  }
}

test('for any interleaving each StartRequest was allowed when it was posted, and each that was demanded has been', async () => {
  let posts = 0;
  let together = 0;
  await fc.assert(
    fc.asyncProperty(
      configs,
      fc.array(command, { minLength: 3, maxLength: 40, size: 'max' }),
      fc.boolean(),
      async (given, commands, isReleased) => {
        const model = new ApprovalsModel(given[0] as OracleConfig);
        model.list('Aa', contentOf(model, 'Aa', {}));
        model.poll();
        for (const each of commands) await play(model, given, each);
        await finish(model, isReleased);
        posts += model.posts;
        together = Math.max(together, model.most);
      },
    ),
    { numRuns: RUNS, seed: SEED },
  );
  if (RUNS < DEFAULT.runs || SEED !== DEFAULT.seed) return;
  assert.equal(together, 2, 'no StartRequest had two events');
  assert.ok(posts > RUNS / 4, `only ${posts} StartRequests were posted`);
});

test('what nextStep says is what happens if nobody acts (6.12)', async () => {
  const said = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(
      configs,
      fc.array(command, { minLength: 3, maxLength: 20, size: 'max' }),
      fc.array(fc.constantFrom(60, 150, 600), { minLength: 2, maxLength: 2 }),
      fc.constantFrom<Answer[]>([], [], ['refused', 'refused'], ['bad', 'bad'], ['again']),
      fc.constantFrom(0, 5000),
      fc.boolean(),
      async (given, commands, notices, answers, waitMs, isNew) => {
        const model = new ApprovalsModel(given[0] as OracleConfig);
        for (const each of commands) await play(model, given, each);
        await calm(model);
        if (isNew) for (const each of EVENT_IDS) model.end(each);
        model.poll();
        model.answers = [...answers];
        for (const [index, each] of EVENT_IDS.entries())
          model.list(each, contentOf(model, each, { noticeS: notices[index] }));
        model.poll();
        if (waitMs > 0) {
          await model.wait(waitMs);
          model.answers = [];
        }
        await expectNextSteps(model, said);
      },
    ),
    { numRuns: Math.ceil(RUNS / 3), seed: SEED },
  );
  if (RUNS < DEFAULT.runs || SEED !== DEFAULT.seed) return;
  for (const action of ['approve later', 'approve now', 'start', 'null'])
    assert.ok((said.get(action) ?? 0) > 5, `${action}: ${said.get(action) ?? 0} times`);
});

/** No answer and no message of before is under way any more, and the service lists both events. */
async function calm(model: ApprovalsModel): Promise<void> {
  model.answers = [];
  model.kill = null;
  model.isAway = false;
  model.isCrowded = false;
  model.fill(false);
  for (const each of EVENT_IDS) {
    if (model.event(each) === undefined) model.list(each, contentOf(model, each, {}));
    model.hide(each, true);
  }
  for (let round = 0; round < 9; round++) {
    model.poll();
    await model.wait(8000);
  }
}

/** Azure starts what is not approved at its NotBefore; both events are Scheduled. */
async function expectNextSteps(model: ApprovalsModel, said: Map<string, number>): Promise<void> {
  const beginMs = model.time.wallMs();
  const steps = EVENT_IDS.map((eventId) => ({ eventId, step: model.nextStep(eventId), before: model.posted.length }));
  const isOpen = ({ eventId, before }: (typeof steps)[number]) =>
    model.event(eventId)?.eventStatus === 'Scheduled' &&
    !model.posted.slice(before).some(({ key }) => key === eventId.toLowerCase());
  for (let round = 0; round < 650 && steps.some(isOpen); round++) {
    for (const eventId of EVENT_IDS) startWhenDue(model, eventId);
    model.poll();
    await model.wait(1000);
  }
  for (const { eventId, step, before } of steps) {
    const atMs = step.at === null ? null : Date.parse(step.at);
    const isLater = atMs !== null && atMs > beginMs;
    const name = step.action === 'approve' ? `approve ${isLater ? 'later' : 'now'}` : String(step.action);
    said.set(name, (said.get(name) ?? 0) + 1);
    const post = model.posted.slice(before).find(({ key }) => key === eventId.toLowerCase());
    if (step.action !== 'approve')
      assert.equal(post, undefined, `${eventId} is posted, though ${JSON.stringify(step)}`);
    else
      assert.ok(
        Math.abs((post?.atMs ?? 0) - (atMs ?? 0)) <= 1000,
        `${JSON.stringify(post)}, and ${JSON.stringify(step)}`,
      );
  }
}

function startWhenDue(model: ApprovalsModel, eventId: string): void {
  const { eventStatus, notBefore = null } = model.event(eventId) ?? {};
  const isDue = eventStatus === 'Scheduled' && notBefore !== null && Date.parse(notBefore) <= model.time.wallMs();
  if (isDue) model.list(eventId, { eventStatus: 'Started', notBefore: null });
}
