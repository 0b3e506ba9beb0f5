// The configuration of docs/operate/file.md → rsyslog itself, reading a test's file into another.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { codeBlocksOf } from '../../docs/markdown-page.ts';

/** For the `skip` of a test: false, or the reason. @throws instead with REQUIRE_RSYSLOG, as in CI */
export const withoutRsyslog: string | false = absence();

function absence(): string | false {
  if (spawnSync('rsyslogd', ['-v']).status === 0) return false;
  if (process.env['REQUIRE_RSYSLOG']) throw new Error('REQUIRE_RSYSLOG is set, and there is no rsyslogd');
  return 'there is no rsyslogd: install the package rsyslog';
}

export class RsyslogReader {
  readonly #child: ChildProcess;
  readonly #output: string;

  private constructor(child: ChildProcess, output: string) {
    this.#child = child;
    this.#output = output;
  }

  /** Reads `log` from now on, whatever happens to it; ended behind the test. */
  static start(t: TestContext, folder: string, log: string): RsyslogReader {
    const [config, work, output] = ['rsyslog.conf', 'rsyslog', 'read.ndjson'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const shown = codeBlocksOf('docs/operate/file.md').find(
      ({ heading, language }) => heading === 'Read by rsyslog' && language === 'text',
    );
    const text = (shown?.text ?? '')
      .replace('/var/log/scheduled-events-bridge/events.ndjson', log)
      .replace('/var/log/from-the-bridge.ndjson', output);
    mkdirSync(work);
    writeFileSync(config, `global(workDirectory="${work}")\n${text}`);
    const child = spawn('rsyslogd', ['-n', '-f', config, '-i', join(folder, 'rsyslog.pid')], { stdio: 'ignore' });
    const reader = new RsyslogReader(child, output);
    t.after(() => reader.end());
    return reader;
  }

  /** What it has read so far. */
  read(): string {
    return existsSync(this.#output) ? readFileSync(this.#output, 'utf8') : '';
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}
