// A language's command and a channel → one test with all that the program must live through.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Channel } from './channel.ts';
import { type Command, Maintenance } from './maintenance.ts';
import { namesWhatWasSeen, refusedByTheService, refusedInAMessage, refusedOverHttp } from './refusals.ts';
import {
  afterIdleness,
  afterTheEnd,
  badInput,
  besideOthers,
  failedPreparation,
  killedWhilePreparing,
  oldAndNew,
  slowPreparation,
} from './trials.ts';

/** The longest that a killed program may be silent on an idle machine. */
const SILENCE_MS = { kafka: 10_000, 'service-bus': 10_000, webhook: 2_000, stream: 2_000 };
/** A Preempt gives 30 s of notice: on a busy machine, too, a program must not be silent for longer. */
const NOTICE_MS = 30_000;

/**
 * Plays everything in turn, with one bridge and one state. A channel that cannot `send` plays the parts that it can by
 * itself.
 */
export async function playAll(t: TestContext, command: Command, channel: Channel): Promise<void> {
  const play = await Maintenance.begin(t, command, channel);
  await badInput(play);
  const { events, silenceMs } = await killedWhilePreparing(play);
  t.diagnostic(
    `${channel.name}: silent for ${Math.round(silenceMs)} ms after kill -9 (on an idle machine under ${SILENCE_MS[channel.name]} ms)`,
  );
  assert.ok(silenceMs < NOTICE_MS, `silent for ${silenceMs} ms`);
  await besideOthers(play, events);
  await refusedByTheService(play);
  if (play.endsOnFailure) await failedPreparation(play);
  if (channel.name === 'service-bus') {
    await slowPreparation(play);
    const idleMs = await afterIdleness(play);
    t.diagnostic(`${channel.name}: silent for ${Math.round(idleMs)} ms after a minute without messages`);
    assert.ok(idleMs < NOTICE_MS, `silent for ${idleMs} ms`);
  }
  await afterTheEnd(play);
  await oldAndNew(play);
  if (channel.name === 'kafka' || channel.name === 'service-bus') await refusedInAMessage(play);
  else await refusedOverHttp(t, play);
  if (channel.approvals) namesWhatWasSeen(await channel.approvals());
}
