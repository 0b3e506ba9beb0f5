// Requests → lines to the helper, a process started on first use → its answers.
import type { ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { objectOf, stringOf } from '../../src/formats/json-object.ts';
import { orAbort } from '../../src/time/clock.ts';
import type { EventLogEntry } from './event-log-entry.ts';
import { type EventLogTarget, helperFault, startFault, type WindowsError } from './event-log-fault.ts';

/** An entry to write; without its members, the helper only checks the source. */
export interface HelperRequest extends Partial<EventLogEntry> {
  readonly source: string;
}

interface Running {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly lines: AsyncIterator<string>;
  /** Resolves with the reason of its end. Never rejects. */
  readonly ended: Promise<string>;
}

/** In characters, of its standard error. */
const MOST_SAID = 500;

/** The program of the Windows service, in the mode `event-log`. It ends with this process. */
export class EventLogHelper {
  readonly #command: readonly [program: string, ...args: readonly string[]];
  readonly #target: EventLogTarget;
  #running: Running | null = null;
  /** Resolves when the last request was answered or given up. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(command: readonly [program: string, ...args: readonly string[]], target: EventLogTarget) {
    this.#command = command;
    this.#target = target;
  }

  /**
   * Sends one request at a time. An abort ends the helper, so that a late answer is not taken for that of the next
   * request.
   * @returns code 0 if Windows has done it
   * @throws BridgeError if the helper does not start, or ends; the signal's reason after an abort
   */
  ask(request: HelperRequest, signal: AbortSignal): Promise<WindowsError> {
    const answer = this.#turn.then(() => this.#exchange(request, signal));
    this.#turn = answer.catch(() => {});
    return orAbort(answer, signal);
  }

  /** Ends the helper. No call may be under way. */
  async close(): Promise<void> {
    await this.#turn;
    await this.#end();
  }

  async #exchange(request: HelperRequest, signal: AbortSignal): Promise<WindowsError> {
    signal.throwIfAborted();
    try {
      this.#running ??= await this.#start();
      const { child, lines } = this.#running;
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const line = await orAbort(lines.next(), signal);
      const answer = line.done === true ? null : answerOf(line.value);
      if (answer !== null) return answer;
      const symptom = line.done === true ? await this.#end() : 'gave an answer that is not valid';
      throw helperFault(symptom, this.#target);
    } catch (error) {
      void this.#end();
      throw error;
    }
  }

  async #start(): Promise<Running> {
    const { spawn } = await import('node:child_process');
    const [program, ...args] = this.#command;
    // Without the variables of the bridge, which may be secrets; on Windows, Node adds those that the system needs.
    const child = spawn(program, args, { env: {}, stdio: 'pipe', windowsHide: true });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-MOST_SAID);
    });
    // Writing to a process that has ended fails; its missing answer reports that.
    child.stdin.on('error', () => {});
    const ended = new Promise<string>((resolve) => {
      child.once('close', (code, signal) => {
        const last = said.trim().split('\n').at(-1) ?? '';
        resolve(`ended (${code === null ? signal : `exit code ${code}`})${last && `: ${last}`}`);
      });
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject)).catch(
      (error: unknown) => {
        throw startFault(error, program, this.#target);
      },
    );
    return { child, lines, ended };
  }

  /** Returns why it has ended. */
  async #end(): Promise<string> {
    const running = this.#running;
    this.#running = null;
    running?.child.kill('SIGKILL');
    return (await running?.ended) ?? 'did not run';
  }
}

/** Returns null if it is not an answer of the helper. */
function answerOf(line: string): WindowsError | null {
  try {
    const { code, message } = objectOf(JSON.parse(line));
    return typeof code === 'number' ? { code, message: stringOf(message) } : null;
  } catch {
    return null;
  }
}
