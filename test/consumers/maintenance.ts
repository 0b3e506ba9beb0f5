// A program and its channel → the maintenances that it must live through, with bad input.
//
// The programs of docs/receive/examples/ print the same lines in every language, and these are compared:
//   ready
//   preparing EVENTID TYPE           or: preparing EVENTID TYPE (drill)
//   approval EVENTID: RESULT         sent, a state of the bridge's answer, or why it was refused; with ", needs an operator" if no event will mend it
//   started EVENTID
//   ended EVENTID: OUTCOME, N left   other events still need the preparation
//   recovered EVENTID: OUTCOME       the last one is over
//   passed ID: REASON                repeat, ended, old news, not for this machine, other type
//   skipped N: REASON                so many unreadable ones so far
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type SimulatedAzure, startSimulator } from '../../src/simulator.ts';
import { folderOf } from '../support/folder.ts';
import { poll } from '../support/poll.ts';
import { Program, run } from '../support/program.ts';
import { type BridgeFolder, bridgeFolder, startRun, TOKEN, urlOf } from '../support/running-bridge.ts';
import { type Channel, changeOf, type Env, inMinutes, MACHINE } from './channel.ts';

const ADMIN_TOKEN = `${TOKEN}-of-an-admin`;
/** Generous: other processes share the machine. */
const PATIENCE_MS = 60_000;
/** Longer than any test. */
const WITHOUT_END = { PREPARE_SECONDS: '600' };

/** How a program of one language is started. */
export interface Command {
  /** The interpreter or the built program. */
  readonly node: string;
  readonly flags?: readonly string[];
  readonly main: string;
  readonly args?: readonly string[];
}

/** One machine with its simulator, its bridge and the program, which may be killed and started again. */
export class Maintenance {
  readonly azure: SimulatedAzure;
  readonly channel: Channel;
  /** Of the bridge. */
  readonly url: string;
  readonly #t: TestContext;
  readonly #command: Command;
  readonly #folder: BridgeFolder;
  readonly #state: string;
  #program: Program | undefined;

  private constructor(t: TestContext, command: Command, channel: Channel, azure: SimulatedAzure, folder: BridgeFolder, url: string) {
    this.#t = t;
    this.#command = command;
    this.channel = channel;
    this.azure = azure;
    this.#folder = folder;
    this.url = url;
    this.#state = join(folderOf(t), 'state');
    t.after(() => this.kill());
  }

  /** Starts the simulator of two machines and the bridge of the first one. */
  static async begin(t: TestContext, command: Command, channel: Channel): Promise<Maintenance> {
    const azure = await startSimulator({ vms: 2 });
    t.after(() => azure.close());
    const folder = bridgeFolder(t, azure.url, channel.sections);
    const bridge = await startRun(t, folder, { env: { ...channel.bridgeEnv, ADMIN_TOKEN } });
    if (channel.listens !== undefined) await bridge.logs(channel.listens);
    return new Maintenance(t, command, channel, azure, folder, urlOf(bridge));
  }

  /** Starts the program, with the state of the one before. Resolves when it is ready. */
  async start(env: Env = {}): Promise<void> {
    const { node, flags = [], main, args = [] } = this.#command;
    const places = { BRIDGE: this.url, STATE: this.#state, MACHINE, PREPARE_SECONDS: '0', HOME: this.#folder.store };
    this.#program = new Program(args, { node, flags, main, env: { ...places, ...this.channel.programEnv, ...env } });
    await this.says(/^ready$/);
  }

  /** Kills it by SIGKILL, if it runs. */
  async kill(): Promise<void> {
    if (this.#program && !this.#program.hasEnded) await this.#program.end('SIGKILL');
  }

  /** All that the program that runs now has printed. */
  get lines(): readonly string[] {
    return this.#program?.stdout.split('\n').slice(0, -1) ?? [];
  }

  /** Resolves when the program that runs now has printed so many such lines; with the last of them. */
  async says(line: RegExp, times = 1): Promise<string> {
    const found = () => this.lines.filter((each) => line.test(each));
    const program = this.#program ?? assert.fail('the program was not started');
    const printed = () => `${line}; it printed: ${program.stdout}${program.stderr}`;
    await poll(() => found().length >= times || program.hasEnded, printed, PATIENCE_MS);
    return found()[times - 1] ?? assert.fail(`it ended (${program.child.exitCode}) before ${printed()}`);
  }

  /** The number of such lines now. */
  count(line: RegExp): number {
    return this.lines.filter((each) => line.test(each)).length;
  }

  /** Sends a marker past the bridge and waits until the program has passed it: everything before it on the same key is handled. */
  async handled(key: string): Promise<void> {
    const id = `marker-${Math.random().toString(36).slice(2)}`;
    await this.channel.send(changeOf('scheduled', key, { id, type: 'com.example.marker.v1' }));
    await this.says(new RegExp(`^passed ${id}: other type`));
  }

  /** Delivers everything that the bridge has published so far once more. */
  async replay(): Promise<void> {
    const args = ['replay', '--sink', 'out', '--since', '1h', '--config', this.#folder.config];
    const { stdout, stderr } = await run(this.#t, args, { env: { ...this.channel.bridgeEnv, ADMIN_TOKEN } });
    assert.match(stdout, /"queued":[1-9]/, stderr);
  }

  /** Begins a drill. Returns its EventId. */
  async drill(): Promise<string> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ notice: '10m', duration: '1s', force: true, resources: [MACHINE] });
    const answer = await fetch(`${this.url}/v1/drills`, { method: 'POST', headers, body });
    const text = await answer.text();
    assert.equal(answer.status, 201, text);
    return (JSON.parse(text) as { readonly eventId: string }).eventId;
  }

  /** Resolves when the metadata service has received so many StartRequests for it. */
  async approved(eventId: string, times = 1): Promise<void> {
    const count = () => this.azure.approvals().filter((id) => id === eventId).length;
    await poll(
      () => count() >= times,
      () => `approval ${times} of ${eventId}; it printed: ${this.#program?.stdout}`,
      PATIENCE_MS,
    );
  }
}

/** What is not a CloudEvent is skipped, counted and reported; what is not meant for this consumer is passed. */
export async function badInput(play: Maintenance): Promise<void> {
  await play.start();
  const unreadable = await play.channel.sendUnreadable();
  await play.says(/^skipped \d+: /, unreadable);
  assert.equal(play.count(/^skipped \d+: /), unreadable);
  const { send } = play.channel;
  await send(changeOf('scheduled', 'somebody-elses', { type: 'com.example.order.placed', data: 'text', datacontenttype: 'text/plain' }));
  await send(changeOf('scheduled', 'later', { id: 'later:v2', type: 'io.github.scheduled-events-bridge.scheduled.v2', data: { new: 1 } }));
  await send(changeOf('scheduled', 'unknown', { id: 'unknown:paused', type: 'io.github.scheduled-events-bridge.paused.v1' }));
  await play.says(/^passed .*: other type/, 3);
  await play.kill();
}

/** Kills the program by SIGKILL while it prepares, and starts it again. Returns the longest silence in ms: of that event, and of one that came meanwhile. */
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
  await Promise.all([play.says(preparing(first, 'Reboot')), play.says(preparing(second, 'Freeze'))]);
  const silenceMs = performance.now() - killedMs;
  await Promise.all([play.approved(first), play.approved(second)]);
  for (const id of [first, second]) await play.says(new RegExp(`^approval ${id}: (sent|submitted|submitting)$`, 'i'));
  return { events: [first, second], silenceMs };
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
  await play.start({ PREPARE_SECONDS: '8' });
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

/** What comes late, or again, of an event that is over is not prepared for, also after a restart; a newer occurrence is. */
export async function afterTheEnd(play: Maintenance): Promise<void> {
  const { send } = play.channel;
  await send(changeOf('ended', 'late'));
  await send(changeOf('started', 'late', { time: inMinutes(-5) }));
  await send(changeOf('scheduled', 'late', { time: inMinutes(-10) }));
  await play.says(/^passed late:(scheduled|started): ended$/, 2);
  await play.kill();
  await play.start();
  await send(changeOf('updated', 'late', { id: 'late:updated:0123456789abcdef', time: inMinutes(-7) }));
  await play.says(/^passed late:updated:\w+: ended$/);
  await play.replay();
  await play.handled('late');
  assert.equal(play.count(/^preparing /), 0);

  await send(changeOf('scheduled', 'late', { id: 'late:scheduled:r2', time: inMinutes(-6) }));
  await play.says(preparing('late', 'Reboot'));
  await send(changeOf('ended', 'late', { id: 'late:ended:r2', time: inMinutes(-3) }));
  await play.says(/^recovered late: completed$/);
  await send(changeOf('started', 'late', { id: 'late:started:r2', time: inMinutes(-1) }));
  await play.says(preparing('late', 'Reboot'), 2);
  await send(changeOf('ended', 'late', { id: 'late:ended:r3' }));
  await play.says(/^recovered late: completed$/, 2);
}

/** Old announcements are passed, what follows them decides; members and attributes that are new are ignored. */
export async function oldAndNew(play: Maintenance): Promise<void> {
  const { send } = play.channel;
  await send(changeOf('scheduled', 'old', {}, { notBefore: inMinutes(-11) }));
  await play.says(/^passed old:scheduled: old news$/);
  await send(changeOf('started', 'old', {}, { notBefore: null }));
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
