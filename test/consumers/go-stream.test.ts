// docs/receive/examples/go/ → every maintenance and bad input from the stream, from the middle too.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { poll } from '../support/poll.ts';
import { MACHINE } from './channel.ts';
import { goProgram, withoutGo } from './go.ts';
import { Maintenance } from './maintenance.ts';
import { playAll } from './play.ts';
import { streamChannel } from './stream-channel.ts';

test('the stream reader in Go lives through kill -9, repeats, drills, updates, old news and bad input', {
  skip: withoutGo,
}, async (t) => {
  await playAll(t, goProgram(t, 'stream'), await streamChannel(t));
});

test('the stream reader in Go begins with what is listed, and recovers from what ended while its position was lost', {
  skip: withoutGo,
}, async (t) => {
  const channel = await streamChannel(t);
  const play = await Maintenance.begin(t, goProgram(t, 'stream'), channel);
  const listed = { EventType: 'Reboot', Resources: [MACHINE], otherTenants: '1h' };
  const [{ EventId: stays }, { EventId: goes }] = [play.azure.schedule(listed), play.azure.schedule(listed)];
  for (const id of [stays, goes]) await isListed(play, id, true);
  await play.start();
  await play.says(/^passed .*:approval-submitted:\w+: other type$/, 2);
  await play.handled(stays);
  await play.kill();
  // A connection without news: the position stays.
  await play.start();
  await play.handled(stays);
  await play.kill();
  play.azure.start(goes);
  play.azure.end(goes);
  await isListed(play, goes, false);
  const refused = channel.refusePosition(410);
  await play.start();
  await refused;
  await play.says(new RegExp(`^ended ${goes}: unknown, 1 left$`, 'i'));
  assert.equal(play.count(/^recovered /), 0);
  play.azure.start(stays);
  await play.says(new RegExp(`^started ${stays}$`, 'i'));
  play.azure.end(stays);
  await play.says(new RegExp(`^recovered ${stays}: completed$`, 'i'));
});

/** Resolves when the bridge lists the event, or no longer does. */
async function isListed({ url }: Maintenance, eventId: string, expected: boolean): Promise<void> {
  const holds = async () => {
    const { events } = (await (await fetch(`${url}/v1/events`)).json()) as {
      readonly events: readonly { readonly eventId: string }[];
    };
    return events.some((event) => event.eventId === eventId) === expected;
  };
  await poll(holds, `${eventId} to be ${expected ? '' : 'no longer '}listed`);
}
