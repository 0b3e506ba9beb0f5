// A formatted folder → one Kafka broker as a process: started, killed, frozen, started again.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { poll } from '../../support/poll.ts';
import { logEnd } from './broker-log.ts';
import { javaArguments, javaProgram } from './distribution.ts';
import { readMetadata } from './requests.ts';
import { addressOf, type Listener, type Place } from './server-properties.ts';

const START_WITHIN_MS = 60_000;

export class Broker {
  readonly nodeId: number;
  readonly #place: Place;
  #process: ChildProcess | undefined;

  /** Its configuration stands in `server.properties` of its folder. */
  constructor(place: Place) {
    this.nodeId = place.nodeId;
    this.#place = place;
  }

  /** `host:port`, the same for as long as its cluster is there. */
  address(listener: Listener = 'PLAINTEXT'): string {
    return addressOf(this.#place, listener);
  }

  get logFile(): string {
    return join(this.#place.folder, 'broker.log');
  }

  /** Undefined while it is down. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Does not wait until it answers. */
  async launch(): Promise<void> {
    if (this.#process) throw new Error(`broker ${this.nodeId} runs already`);
    const args = [...(await javaArguments()), 'kafka.Kafka', join(this.#place.folder, 'server.properties')];
    const log = openSync(this.logFile, 'a');
    // Of no terminal: Ctrl-C reaches the test alone, which ends the broker. Nobody waits for its output, so that a
    // forgotten one holds up no test run.
    const started = spawn(javaProgram(), args, { stdio: ['ignore', log, log], detached: true });
    closeSync(log);
    if (started.pid !== undefined) this.#note(started, started.pid);
    await once(started, 'spawn');
  }

  /**
   * Resolves when it answers, and knows of so many brokers.
   * @throws with the end of its log when it ends instead, or does not answer in time
   */
  async answers(brokers = 1): Promise<void> {
    const ready = async (): Promise<boolean> => {
      if (!this.#process) throw new Error('it ended');
      try {
        return (await readMetadata(this.address(), [], AbortSignal.timeout(2_000))).brokers.length >= brokers;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return false;
      }
    };
    try {
      await poll(ready, `the broker at ${this.address()}`, START_WITHIN_MS);
    } catch (error) {
      throw new Error(
        `broker ${this.nodeId} did not start: ${(error as Error).message}; the end of its log:\n${logEnd(this.logFile)}`,
      );
    }
  }

  /** Starts it, for the first time or again; resolves when it answers. */
  async start(): Promise<void> {
    await this.launch();
    await this.answers();
  }

  /** At once, as kill -9 does. */
  async kill(): Promise<void> {
    const process = this.#process;
    if (!process) return;
    process.ref();
    const ended = once(process, 'exit');
    process.kill('SIGKILL');
    await ended;
  }

  /** It keeps its connections, and says nothing more until `thaw`. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  /** At once, since whoever cleans up behind a killed test finds it by this file. */
  #note(started: ChildProcess, pid: number): void {
    writeFileSync(this.#pidFile, String(pid));
    this.#process = started;
    started.unref();
    started.once('exit', () => {
      rmSync(this.#pidFile, { force: true });
      this.#process = undefined;
    });
  }

  get #pidFile(): string {
    return join(this.#place.folder, 'pid');
  }
}
