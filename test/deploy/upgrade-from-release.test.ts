// The .deb of each earlier release, then today's → what was stored is there, and goes on.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { poll } from '../support/poll.ts';
import { BootedMachine, noMachine } from './booted-machine.ts';
import { builtPackages } from './built-packages.ts';
import {
  configure,
  debIn,
  HOOK,
  install,
  installFarSides,
  journal,
  onStore,
  ready,
  schedule,
} from './installed-service.ts';
import { type EarlierRelease, earlierReleases, releasedPackage } from './released-packages.ts';

const FILTERED = HOOK.replace(' }\n', ', filter: { changes: [scheduled, started] } }\n');
const sinkAt = (name: string) => FILTERED.replace('hook:', `${name}:`).replace(':9000/', `:9000/${name}`);
const TOKEN = '9f86d081884c7d659a2feaa0c55ad015';
const CONFIGURATION = `${FILTERED}${sinkAt('paused')}${sinkAt('refusing')}approvals:
  approvers:
    me: { token: { env: ADMIN_TOKEN }, admin: true }
`;
const HELD = { approver: 'me', reason: 'a backup runs' };

for (const release of earlierReleases()) {
  const unknown = release.commit === null && `this clone does not have the commit of ${release.version}`;
  const skip = noMachine || unknown;
  // The runner counts a skipped test, and no skipped suite.
  if (skip) test(`an upgrade from the .deb of ${release.version}`, { skip });
  else describe(`from the .deb of ${release.version}`, () => suite(release));
}

function suite(release: EarlierRelease): void {
  const options = { timeout: 300_000 };
  let machine: BootedMachine;
  let [old, today] = ['', ''];
  let [held, waiting, drill] = ['', '', ''];
  let schema = 0;

  before(async () => {
    old = releasedPackage(release);
    today = builtPackages();
    machine = await BootedMachine.boot();
  });
  after(async () => await machine?.[Symbol.asyncDispose]());

  const api = (method: string, path: string, body?: object) => {
    const headers = [`Authorization: Bearer ${TOKEN}`, ...(body ? ['Content-Type: application/json'] : [])];
    const answer = machine.run(
      ...['curl', '--silent', '--show-error', '--fail-with-body', '--request', method],
      ...headers.flatMap((header) => ['--header', header]),
      ...(body ? ['--data', JSON.stringify(body)] : []),
      `http://127.0.0.1:8700${path}`,
    );
    return answer === '' ? null : JSON.parse(answer);
  };
  const sink = (name: string): { readonly state: string; readonly queued: number; readonly deadLetters: number } =>
    api('GET', '/v1/sinks').find((each: { name: string }) => each.name === name);
  const until = (isSo: () => boolean) => poll(isSo, () => journal(machine), 60_000);
  const approve = (eventId: string) => api('POST', '/v1/approvals', { StartRequests: [{ EventId: eventId }] });
  const arrivals = (path: string) =>
    [...machine.read('/root/received').matchAll(/^(\S+) .*?"id":"([^"]+)"/gm)]
      .filter(([, at]) => at === path)
      .map(([, , id = '']) => id);
  const storedSchema = () => Number(onStore(machine, 'PRAGMA user_version')[0]?.['user_version']);

  /** What an upgrade must keep, as the HTTP interface shows it. */
  const kept = () => {
    const { state, holds, approvedBy } = api('GET', `/v1/approvals/${held}`);
    const dead: readonly { id: string }[] = api('GET', '/v1/dead-letters?sink=refusing').items;
    return {
      approval: { state, approvedBy },
      holds: holds.map(({ approver, reason }: typeof HELD) => ({ approver, reason })),
      undelivered: sink('hook').queued,
      paused: [sink('paused').state, sink('paused').queued],
      deadLetters: dead.map(({ id }) => id),
      drill: api('GET', `/v1/drills/${drill.replace('drill-', '')}`).state,
    };
  };
  const expected = () => ({
    approval: { state: 'held', approvedBy: ['me'] },
    holds: [HELD],
    undelivered: 2,
    paused: ['paused', 3],
    deadLetters: [`${held}:scheduled`],
    drill: 'scheduled',
  });

  test('it stores a dead letter, a pause, a hold, undelivered CloudEvents and a drill', options, async () => {
    install(machine, old);
    installFarSides(machine);
    machine.write('/root/refuse', '');
    machine.write('/etc/scheduled-events-bridge/environment', `ADMIN_TOKEN=${TOKEN}\n`);
    configure(machine, CONFIGURATION);
    await ready(machine);
    api('POST', '/v1/sinks/paused/pause');
    held = schedule(machine);
    await until(() => arrivals('/').includes(`${held}:scheduled`) && sink('refusing').deadLetters === 1);
    machine.run('systemctl', 'stop', 'receiver');
    api('POST', '/v1/holds', { EventId: held, reason: HELD.reason });
    approve(held);
    waiting = schedule(machine);
    await until(() => sink('hook').queued === 1);
    drill = api('POST', '/v1/drills', { notice: '1h', duration: '1h', force: true }).eventId;
    await until(() => sink('hook').queued === 2);
    assert.deepEqual(kept(), expected());
    schema = storedSchema();
  });

  test("after an upgrade to today's .deb, all of it is still there", options, async () => {
    install(machine, today);
    await ready(machine);
    assert.deepEqual(kept(), expected());
  });

  test(
    'a downgrade runs on the same schema; else it names the newer version and changes nothing',
    options,
    async () => {
      const newer = storedSchema();
      machine.try('apt-get', 'install', '--yes', '--allow-downgrades', machine.take(debIn(old)));
      if (newer === schema) return await ready(machine);
      await until(() => journal(machine).includes('BRIDGE_STORE_NEWER'));
      // Exit code 74, which keeps the service down, is newer than 0.1.0: systemd starts that one again each second.
      const code = release.version === '0.1.0' ? '1' : '74';
      await until(() => machine.property('ExecMainStatus') === code);
      machine.run('systemctl', 'stop', 'scheduled-events-bridge');
      assert.equal(storedSchema(), newer);
    },
  );

  test('after the next upgrade, everything goes on', options, async () => {
    install(machine, today);
    machine.run('systemctl', 'start', 'scheduled-events-bridge');
    await ready(machine);
    assert.deepEqual(kept(), expected());
    machine.run('rm', '/root/refuse');
    machine.run('systemctl', 'start', 'receiver');
    api('POST', '/v1/dead-letters/retry', { sink: 'refusing', ids: [`${held}:scheduled`] });
    api('POST', '/v1/sinks/paused/resume');
    api('DELETE', `/v1/holds/${held}`);
    approve(drill);
    const scheduled = [held, waiting, drill].map((eventId) => `${eventId}:scheduled`);
    const all = [...scheduled, `${held}:started`, `${drill}:started`].sort();
    await until(() => ['/', '/paused', '/refusing'].every((path) => arrivals(path).length >= all.length));
    for (const path of ['/', '/paused', '/refusing']) assert.deepEqual(arrivals(path).sort(), all);
  });
}
