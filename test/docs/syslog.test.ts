// docs/operate/syslog.md, followed to a maintenance that is found by its id, with each daemon.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PortBlock } from '../far-sides/kafka/ports.ts';
import { type DaemonKind, rsyslog, syslogNg } from '../far-sides/syslog/daemons.ts';
import { accepts } from '../far-sides/syslog/syslog-daemon.ts';
import { folderOf } from '../support/folder.ts';
import { poll } from '../support/poll.ts';
import { codeBlocksOf } from './markdown-page.ts';

const MAIN = join(import.meta.dirname, '../../dist/main.js');
const blocks = codeBlocksOf('docs/operate/syslog.md').filter(({ language }) => language === 'sh');
const [withRsyslog = '', simulator = '', bridge = '', maintenance = '', withSyslogNg = ''] = blocks.map(({ text }) => text);

for (const [kind, daemon] of [
  [rsyslog, withRsyslog],
  [syslogNg, withSyslogNg],
] as const) {
  test(`what the page says shows a whole maintenance in ${kind.name}, found by its id`, { skip: kind.isMissing }, async (t) => {
    const walk = await Walk.begin(t, kind);
    walk.start(daemon);
    await walk.listens(6601);
    walk.start(simulator);
    await walk.listens(8080);
    walk.start(bridge);
    await walk.listens(8700);
    const found = (await walk.run(maintenance)).trim().split('\n');
    const changes = found.map((line) => /^\S+Z? \S+ (warning|info) (\w+) /.exec(line)?.slice(1));
    assert.deepEqual(changes, [
      ['warning', 'scheduled'],
      ['warning', 'started'],
      ['info', 'ended'],
    ]);
    assert.match(found[0] ?? '', /type="io\.github\.scheduled-events-bridge\.scheduled\.v1".* will reboot \S+, not before /);
    assert.match(found[2] ?? '', / The reboot of \S+ is over \(completed\)/);
  });
}

/** The terminals of one reader of the page. */
class Walk {
  readonly #t: TestContext;
  readonly #folder: string;
  readonly #bin: string;
  readonly #ports: Readonly<Record<number, number>>;
  readonly #replaced: readonly (readonly [text: string, by: string])[];
  #said = '';

  private constructor(t: TestContext, folder: string, bin: string, kind: DaemonKind, block: PortBlock) {
    this.#t = t;
    this.#folder = folder;
    this.#bin = bin;
    this.#ports = { 6601: block.port(0), 8080: block.port(1), 8700: block.port(2) };
    const { program, args, env } = kind.command({ folder, output: '', certFile: '', keyFile: '', ports: { tcp: 0, tls: 0, udp: 0 } }, '');
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value} `);
    const modules = args.slice(args.indexOf('--module-path')).slice(0, 2);
    this.#replaced = [
      ...Object.entries(this.#ports).map(([port, ours]) => [`:${port}`, `:${ours}`] as const),
      ['port="6601"', `port="${block.port(0)}"`],
      ['port(6601)', `port(${block.port(0)})`],
      ['version: 1\n', `version: 1\nhttp: { listen: 127.0.0.1:${block.port(2)} }\n`],
      // It may have been unpacked instead of installed.
      ['/usr/sbin/syslog-ng ', `${variables.join('')}${program} ${modules.join(' ')} `],
    ];
  }

  static async begin(t: TestContext, kind: DaemonKind): Promise<Walk> {
    const folder = folderOf(t);
    const bin = join(folder, 'bin');
    const block = await PortBlock.claim();
    t.after(() => block[Symbol.dispose]());
    mkdirSync(bin);
    // What is installed already, and the command as it was built here.
    for (const [name, script] of [
      ['sudo', 'exit 0'],
      ['npx', `shift; exec ${process.execPath} ${MAIN} "$@"`],
    ] as const) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(bin, name), 0o755);
    }
    return new Walk(t, folder, bin, kind, block);
  }

  /** In a terminal of its own, until the test ends. */
  start(commands: string): void {
    const child = this.#shell(commands);
    this.#t.after(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      // The shell and all that it started.
      process.kill(-(child.pid ?? assert.fail('it did not start')), 'SIGKILL');
      await once(child, 'exit');
    });
  }

  async listens(port: number): Promise<void> {
    const ours = this.#ports[port] ?? assert.fail(`${port} is no port of the page`);
    await poll(
      () => accepts(ours),
      () => `${port}: ${this.#said}`,
    );
  }

  /** @returns what they print */
  async run(commands: string): Promise<string> {
    const child = this.#shell(commands);
    let printed = '';
    child.stdout?.on('data', (text: string) => {
      printed += text;
    });
    await once(child, 'close');
    return printed;
  }

  #shell(commands: string): ChildProcess {
    const script = this.#replaced.reduce((text, [from, to]) => text.replaceAll(from, to), commands);
    const env = { ...process.env, PATH: `${this.#bin}:${process.env['PATH']}` };
    const child = spawn('bash', ['-c', script], { cwd: this.#folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#said += text;
      });
    return child;
  }
}
