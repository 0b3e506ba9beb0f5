// A program and its channel → both beside a simulator and a bridge, and what the program prints.
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
import { type Channel, changeOf, type Env, MACHINE } from './channel.ts';

const ADMIN_TOKEN = `${TOKEN}-of-an-admin`;
/** Generous: other processes share the machine. */
const PATIENCE_MS = 60_000;

/** How a program of one language is started. */
export interface Command {
  /** The interpreter or the built program. */
  readonly node: string;
  readonly flags?: readonly string[];
  readonly main: string;
  readonly args?: readonly string[];
  /**
   * What it prints on standard error if it is started again while it is prepared for one event; absent if it prints
   * nothing about that.
   */
  readonly resumes?: string;
  /** Whether it ends if its preparation fails, as it does with a `PREPARE_SECONDS` that is not a number. */
  readonly endsOnFailure?: boolean;
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

  private constructor(
    t: TestContext,
    command: Command,
    channel: Channel,
    azure: SimulatedAzure,
    folder: BridgeFolder,
    url: string,
  ) {
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

  get endsOnFailure(): boolean {
    return this.#command.endsOnFailure === true;
  }

  /** Asserts that the program that runs now has found on its disk that it was preparing for one event. */
  async resumed(): Promise<void> {
    if (this.#command.resumes !== undefined) await this.#program?.logs(this.#command.resumes);
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

  /**
   * Sends a marker past the bridge and waits until the program has passed it: everything before it on the same key is
   * handled.
   */
  async handled(key: string): Promise<void> {
    const id = `marker-${Math.random().toString(36).slice(2)}`;
    await this.channel.send(changeOf('scheduled', key, { id, type: 'com.example.marker.v1' }));
    await this.says(new RegExp(`^passed ${id}: other type`));
  }

  /** Delivers everything that the bridge has published so far once more. */
  async replay(): Promise<void> {
    if (this.channel.repeat) return await this.channel.repeat();
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
