// Each refusal of an approval → what a program makes of it.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { changeOf, MACHINE, refusalOf } from './channel.ts';
import type { Maintenance } from './maintenance.ts';

/** The next CloudEvent of the event says what to do: the program does nothing. */
const MENDED_BY_EVENTS = ['changed', 'started', 'ended', 'unknown', 'old', 'dry-run'];
/** A program, a token or a scope is wrong: somebody has to look. */
const MENDED_BY_PEOPLE = ['bad-request', 'forbidden', 'scope', 'seen-unknown'];

/** The problems of POST /v1/approvals that asking again does not change. */
const FINAL: readonly (readonly [status: number, type: string])[] = [
  [409, 'changed'],
  [409, 'started'],
  [410, 'ended'],
  [404, 'unknown'],
  [409, 'old'],
  [400, 'bad-request'],
  [401, 'unauthorized'],
  [403, 'no-approvers'],
  [403, 'reader'],
  [403, 'forbidden'],
  [403, 'scope'],
  [404, 'seen-unknown'],
  [413, 'too-large'],
  [415, 'not-json'],
  [421, 'host'],
  [500, 'internal'],
];
/** Those that it may change, and the page of a proxy. */
const PASSING: typeof FINAL = [
  [429, 'too-many-requests'],
  [502, 'refused'],
  [503, 'unavailable'],
  [504, '<html>a proxy</html>'],
];

/** The metadata service refuses the StartRequest once: the program approves again. */
export async function refusedByTheService(play: Maintenance): Promise<void> {
  play.azure.fault({ method: 'POST', path: '/metadata/scheduledevents', status: 400, times: 1 });
  const { EventId } = play.azure.schedule({ EventType: 'Reboot', Resources: [MACHINE] });
  await play.approved(EventId);
  await play.says(new RegExp(`^started ${EventId}$`, 'i'));
  play.azure.end(EventId);
  await play.says(new RegExp(`^recovered ${EventId}: completed$`, 'i'));
}

/** A source of a broker refuses: `approval.failed` has the reason. */
export async function refusedInAMessage(play: Maintenance): Promise<void> {
  const { send } = play.channel;
  await send(changeOf('scheduled', 'refused-one'));
  await play.says(/^approval refused-one: sent$/);
  for (const reason of [...MENDED_BY_EVENTS, ...MENDED_BY_PEOPLE]) {
    await send(refusalOf('refused-one', reason));
    await play.says(lineOf('refused-one', reason));
  }
  await send(refusalOf('somebody-elses', 'scope'));
  await send(changeOf('ended', 'refused-one'));
  await play.says(/^recovered refused-one: completed$/);
}

/** A bridge that answers with each problem in turn: final ones end the attempt, passing ones are asked again. */
export async function refusedOverHttp(t: TestContext, play: Maintenance): Promise<void> {
  let answers: [number, string][] = [];
  const { relay } = play.channel;
  const bodies: Promise<string>[] = [];
  const server = createServer((request, response) => {
    if (relay && request.url !== '/v1/approvals') return relay(request, response);
    bodies.push(text(request));
    const [status, type] = answers.shift() ?? [200, ''];
    const body = type.startsWith('<')
      ? type
      : JSON.stringify({ type, title: type, status, results: [{ eventId: 'x', state: 'submitted' }] });
    response
      .writeHead(status, {
        'content-type': 'application/problem+json',
        ...(status === 429 ? { 'retry-after': '1' } : {}),
      })
      .end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close().closeAllConnections());
  await play.kill();
  await play.start({ BRIDGE: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  for (const [index, [status, type]] of FINAL.entries()) {
    answers = [[status, type]];
    await play.channel.send(changeOf('scheduled', `refused-${index}`));
    await play.says(lineOf(`refused-${index}`, type));
    await play.channel.send(changeOf('ended', `refused-${index}`));
    await play.says(new RegExp(`^recovered refused-${index}: completed$`));
  }
  answers = PASSING.map(([status, type]) => [status, type]);
  await play.channel.send(changeOf('scheduled', 'patient'));
  await play.says(/^approval patient: submitted$/);
  await play.channel.send(changeOf('ended', 'patient'));
  await play.says(/^recovered patient: completed$/);
  assert.equal(bodies.length, FINAL.length + PASSING.length + 1);
  namesWhatWasSeen(await Promise.all(bodies));
}

/** Each approval names one event, and the `scheduled` or `updated` that was seen of it. */
export function namesWhatWasSeen(bodies: readonly string[]): void {
  assert.ok(bodies.length > 0);
  for (const body of bodies) {
    const { StartRequests } = JSON.parse(body) as {
      readonly StartRequests: readonly { readonly EventId: string; readonly Seen: string }[];
    };
    assert.equal(StartRequests.length, 1, body);
    for (const { EventId, Seen } of StartRequests)
      assert.match(Seen, new RegExp(`^${EventId}:(scheduled|updated:\\w+)(:r\\d+)?$`, 'i'));
  }
}

function lineOf(eventId: string, reason: string): RegExp {
  return new RegExp(
    `^approval ${eventId}: ${reason}${MENDED_BY_EVENTS.includes(reason) ? '' : ', needs an operator'}$`,
  );
}
