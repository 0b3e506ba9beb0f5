// A program under test → the maintenances that it must live through, with every bad input.
import assert from 'node:assert/strict';
import { changeOf, inMinutes, MACHINE } from './channel.ts';
import type { Maintenance } from './maintenance.ts';

/** Longer than any test. */
const WITHOUT_END = { PREPARE_SECONDS: '600' };

/** What is not a CloudEvent is skipped, counted and reported; what is not meant for this consumer is passed. */
export async function badInput(play: Maintenance): Promise<void> {
  await play.start();
  const unreadable = await play.channel.sendUnreadable();
  await play.says(/^skipped \d+: /, unreadable);
  assert.equal(play.count(/^skipped \d+: /), unreadable);
  const { send } = play.channel;
  await send(
    changeOf('scheduled', 'somebody-elses', {
      type: 'com.example.order.placed',
      data: 'text',
      datacontenttype: 'text/plain',
    }),
  );
  await send(
    changeOf('scheduled', 'later', {
      id: 'later:v2',
      type: 'io.github.scheduled-events-bridge.scheduled.v2',
      data: { new: 1 },
    }),
  );
  await send(
    changeOf('scheduled', 'unknown', { id: 'unknown:paused', type: 'io.github.scheduled-events-bridge.paused.v1' }),
  );
  await play.says(/^passed .*: other type/, 3);
  await play.kill();
}

/**
 * Kills the program by SIGKILL while it prepares, and starts it again. Returns the longest silence in ms: of that
 * event, and of one that came meanwhile.
 */
export async function killedWhilePreparing(
  play: Maintenance,
): Promise<{ readonly events: readonly [string, string]; readonly silenceMs: number }> {
  await play.start(WITHOUT_END);
  const { EventId: first } = play.azure.schedule({ EventType: 'Reboot', Resources: [MACHINE], otherTenants: '1h' });
  await play.says(preparing(first, 'Reboot'));
  await play.kill();
  const killedMs = performance.now();
  const { EventId: second } = play.azure.schedule({ EventType: 'Freeze', Resources: [MACHINE], otherTenants: '1h' });
  await play.start();
  await play.resumed();
  await Promise.all([play.says(preparing(first, 'Reboot')), play.says(preparing(second, 'Freeze'))]);
  const silenceMs = performance.now() - killedMs;
  await Promise.all([play.approved(first), play.approved(second)]);
  for (const id of [first, second]) await play.says(new RegExp(`^approval ${id}: (sent|submitted|submitting)$`, 'i'));
  return { events: [first, second], silenceMs };
}

/**
 * A preparation fails: the program ends without approving. Started again, as by its supervisor, it prepares and
 * approves.
 */
export async function failedPreparation(play: Maintenance): Promise<void> {
  await play.kill();
  await play.start({ PREPARE_SECONDS: 'not a number' });
  const { EventId } = play.azure.schedule({ EventType: 'Reboot', Resources: [MACHINE] });
  await assert.rejects(play.says(/^approval /), /it ended \(1\)/);
  assert.equal(play.azure.approvals().includes(EventId), false);
  await play.start();
  await play.says(new RegExp(`^started ${EventId}$`, 'i'));
  play.azure.end(EventId);
  await play.says(new RegExp(`^recovered ${EventId}: completed$`, 'i'));
}

/** A repeat, a sibling's event, an update for the worse and a drill between announcement and end of two events. */
export async function besideOthers(play: Maintenance, [first, second]: readonly [string, string]): Promise<void> {
  const before = play.count(/^preparing /);
  await play.replay();
  await play.says(new RegExp(`^passed ${first}:scheduled: repeat$`, 'i'));
  assert.equal(play.count(/^preparing /), before, 'a repeat');

  const { EventId: sibling } = play.azure.schedule({ EventType: 'Redeploy', Resources: ['sim_1'] });
  await play.says(new RegExp(`^passed ${sibling}:scheduled: not for this machine$`, 'i'));

  play.azure.change(first, { EventType: 'Redeploy' });
  await play.says(preparing(first, 'Redeploy'));
  await play.says(new RegExp(`^approval ${first}: (sent|submitted)$`, 'i'), 2);

  const drill = await play.drill();
  await play.says(new RegExp(`^preparing ${drill} Reboot \\(drill\\)$`, 'i'));
  await play.says(new RegExp(`^ended ${drill}: completed, 2 left$`, 'i'));

  play.azure.start(first);
  await play.says(new RegExp(`^started ${first}$`, 'i'));
  play.azure.end(first);
  await play.says(new RegExp(`^ended ${first}: completed, 1 left$`, 'i'));
  play.azure.start(second);
  await play.says(new RegExp(`^started ${second}$`, 'i'));
  play.azure.end(second);
  await play.says(new RegExp(`^recovered ${second}: completed$`, 'i'));
  assert.deepEqual([play.count(/^recovered /), play.azure.approvals().includes(sibling)], [1, false]);
}

/** The preparation takes longer than the lock of a message: the program renews the lock, so nothing comes twice. */
export async function slowPreparation(play: Maintenance): Promise<void> {
  await play.kill();
  await play.start({ PREPARE_SECONDS: '7' });
  const { EventId } = play.azure.schedule({ EventType: 'Reboot', Resources: [MACHINE] });
  await play.says(new RegExp(`^started ${EventId}$`, 'i'));
  play.azure.end(EventId);
  await play.says(new RegExp(`^recovered ${EventId}: completed$`, 'i'));
  assert.deepEqual(
    [play.count(/^preparing /), play.count(new RegExp(`^passed ${EventId}:.*: repeat$`, 'i'))],
    [1, 0],
    play.lines.join('\n'),
  );
  await play.kill();
  await play.start();
}

/**
 * Nothing happens for a minute, so the broker ends the receiver's wait. Returns after how many ms the program then
 * prepares for an event.
 */
export async function afterIdleness(play: Maintenance): Promise<number> {
  await play.channel.idle?.();
  const startedMs = performance.now();
  const { EventId } = play.azure.schedule({ EventType: 'Preempt', Resources: [MACHINE] });
  await play.says(preparing(EventId, 'Preempt'));
  const silenceMs = performance.now() - startedMs;
  await play.says(new RegExp(`^started ${EventId}$`, 'i'));
  play.azure.end(EventId);
  await play.says(new RegExp(`^recovered ${EventId}: completed$`, 'i'));
  return silenceMs;
}

/**
 * What comes late, or again, of an event that is over is not prepared for, also after a restart; a newer occurrence is.
 */
export async function afterTheEnd(play: Maintenance): Promise<void> {
  const { send } = play.channel;
  await send(changeOf('ended', 'late'));
  await send(changeOf('started', 'late', { time: inMinutes(-5) }, { eventStatus: 'Started', notBefore: null }));
  await send(changeOf('scheduled', 'late', { time: inMinutes(-10) }));
  await play.says(/^passed late:(scheduled|started): ended$/, 2);
  await play.kill();
  await play.start();
  await send(changeOf('updated', 'late', { id: 'late:updated:0123456789abcdef' }));
  await play.says(/^passed late:updated:\w+: ended$/);
  await play.replay();
  await play.handled('late');
  assert.equal(play.count(/^preparing /), 0);

  await send(changeOf('scheduled', 'late', { id: 'late:scheduled:r2', time: inMinutes(-6) }));
  await play.says(preparing('late', 'Reboot'));
  await send(changeOf('ended', 'late', { id: 'late:ended:r2', time: inMinutes(-3) }));
  await play.says(/^recovered late: completed$/);
  // What comes late of an earlier occurrence neither prepares again nor ends the later one.
  await send(changeOf('scheduled', 'late', { id: 'late:scheduled:r3', time: inMinutes(-2) }));
  await play.says(preparing('late', 'Reboot'), 2);
  await send(changeOf('ended', 'late', { id: 'late:ended:again', time: inMinutes(-4) }));
  await play.says(/^passed late:ended:again: ended$/);
  await send(changeOf('ended', 'late', { id: 'late:ended:r3', time: inMinutes(-1.5) }));
  await play.says(/^recovered late: completed$/, 2);
  await send(
    changeOf(
      'started',
      'late',
      { id: 'late:started:r2', time: inMinutes(-1) },
      { eventStatus: 'Started', notBefore: null },
    ),
  );
  await play.says(preparing('late', 'Reboot'), 3);
  await send(
    changeOf('updated', 'late', { id: 'late:updated:fedcba9876543210' }, { eventStatus: 'Started', notBefore: null }),
  );
  await play.says(/^started late$/);
  await send(changeOf('ended', 'late', { id: 'late:ended:r4' }));
  await play.says(/^recovered late: completed$/, 3);
}

/** Old announcements are passed, what follows them decides; members and attributes that are new are ignored. */
export async function oldAndNew(play: Maintenance): Promise<void> {
  const { send } = play.channel;
  await send(changeOf('scheduled', 'old', {}, { notBefore: inMinutes(-11) }));
  await play.says(/^passed old:scheduled: old news$/);
  await send(changeOf('started', 'old', {}, { eventStatus: 'Started', notBefore: null }));
  await play.says(preparing('old', 'Reboot'));
  await send(changeOf('ended', 'old'));
  await play.says(/^recovered old: completed$/);
  const { data, ...event } = changeOf('scheduled', 'fresh', { newattribute: 'x' });
  await send({ ...event, data: { ...(data as object), newMember: { of: ['a', 'later', 'bridge'] } } });
  await play.says(preparing('fresh', 'Reboot'));
  await send(changeOf('ended', 'fresh'));
  await play.says(/^recovered fresh: completed$/);
}

function preparing(eventId: string, type: string): RegExp {
  return new RegExp(`^preparing ${eventId} ${type}$`, 'i');
}
