// Assignments such as READY=1 → systemd, through `systemd-notify`: Node has no unix datagrams.
import type { ExecFileException } from 'node:child_process';
import type { Logger } from 'pino';

const COMMAND = 'systemd-notify';
/** The command waits until systemd has read the message, and gives up after 5 s. */
const LIMIT_MS = 10_000;

interface NotifierParts {
  /** PATH and NOTIFY_SOCKET of the process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Sends one message at a time, in order, because READY=1 after RELOADING=1 differs from READY=1 before it. */
export class Notifier {
  readonly #parts: NotifierParts;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  #hasFailed = false;

  constructor(parts: NotifierParts) {
    this.#parts = parts;
  }

  /** Whether a message is being sent. */
  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  /** Resolves once systemd has read the message or sending has failed, which is logged once. Never rejects. */
  send(assignments: readonly string[]): Promise<void> {
    this.#waiting += 1;
    this.#last = this.#last
      .then(() => this.#run(assignments))
      .finally(() => {
        this.#waiting -= 1;
      });
    return this.#last;
  }

  async #run(assignments: readonly string[]): Promise<void> {
    const { PATH, NOTIFY_SOCKET } = this.#parts.env;
    const { execFile } = await import('node:child_process');
    const error = await new Promise<ExecFileException | null>((resolve) => {
      execFile(COMMAND, assignments, { env: { PATH, NOTIFY_SOCKET }, timeout: LIMIT_MS }, resolve);
    });
    if (error === null || this.#hasFailed) return;
    this.#hasFailed = true;
    this.#parts.logger.warn(
      { err: error },
      `${COMMAND} failed: systemd receives no notifications from the bridge, and may stop it`,
    );
  }
}
