// A test → a real syslog daemon in a separate process, which can be killed and restarted.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { CertificateAuthority } from '../certificate-authority.ts';
import { PortBlock } from '../kafka/ports.ts';
import type { DaemonKind, DaemonPlace } from './daemons.ts';
import { structuredDataOf } from './parsed-message.ts';
import { RULE_BASE, RULES } from './rsyslog-configuration.ts';

/** The fields that a daemon read from one message. */
export interface ReadBack {
  readonly priority: string;
  /** In RFC 3339. */
  readonly time: string;
  readonly host: string;
  readonly appName: string;
  readonly messageId: string;
  readonly structuredData: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly message: string;
  /** The result of rsyslog's CEF parser. */
  readonly cef?: Readonly<Record<'SignatureID' | 'Name' | 'Severity', string>> & {
    readonly Extensions: Readonly<Record<string, string>>;
  };
}

export class SyslogDaemon {
  readonly #kind: DaemonKind;
  readonly #place: DaemonPlace;
  readonly #caFile: string;
  #process: ChildProcess | null = null;
  #said = '';

  private constructor(kind: DaemonKind, place: DaemonPlace, caFile: string) {
    this.#kind = kind;
    this.#place = place;
    this.#caFile = caFile;
  }

  static async start(t: TestContext, kind: DaemonKind): Promise<SyslogDaemon> {
    const folder = folderOf(t);
    const authority = await CertificateAuthority.create(t);
    const block = await PortBlock.claim();
    t.after(() => block[Symbol.dispose]());
    const ports = { tcp: block.port(0), tls: block.port(1), udp: block.port(2) };
    const place = { folder, ports, ...(await authority.issue('IP:127.0.0.1')), output: join(folder, 'messages') };
    const daemon = new SyslogDaemon(kind, place, authority.file);
    writeFileSync(daemon.#configFile, kind.configuration(place));
    writeFileSync(join(folder, RULES), RULE_BASE);
    t.after(() => daemon.stop('SIGKILL'));
    await daemon.start();
    return daemon;
  }

  /** Options of a sink that sends to it. */
  options(transport: 'tcp' | 'tls' | 'udp' | 'unix'): Readonly<Record<string, unknown>> {
    const { folder, ports } = this.#place;
    if (transport === 'unix') return { server: `unix:${join(folder, 'log.sock')}`, framing: this.#kind.localFraming };
    const server = `${transport}://127.0.0.1:${ports[transport]}`;
    return transport === 'tls' ? { server, tls: { ca: this.#caFile } } : { server };
  }

  async start(): Promise<void> {
    const { program, args, env } = this.#kind.command(this.#place, this.#configFile);
    const child = spawn(program, args, {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (this.#said += text));
    await once(child, 'spawn');
    const { tcp, tls } = this.#place.ports;
    await poll(
      async () => (await accepts(tcp)) && (await accepts(tls)),
      () => `${this.#kind.name} to listen: ${this.#said}`,
    );
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  /** Returns the complete lines that it has written. */
  read(): readonly ReadBack[] {
    const { output } = this.#place;
    if (!existsSync(output)) return [];
    return readFileSync(output, 'utf8').split('\n').slice(0, -1).map(readBack);
  }

  /** Resolves when it has written this many. */
  async readWhenThere(count: number): Promise<readonly ReadBack[]> {
    await poll(
      () => this.read().length >= count,
      () => `${count} messages, not ${this.read().length}: ${this.#said}`,
    );
    return this.read();
  }

  get #configFile(): string {
    return join(this.#place.folder, 'daemon.conf');
  }
}

/** rsyslog writes the structured data unchanged, syslog-ng as a tree. */
function readBack(line: string): ReadBack {
  const { structuredData, _SDATA: tree, parsed, ...fields } = JSON.parse(line);
  const cef = parsed ? JSON.parse(parsed).f : undefined;
  return { ...fields, cef, structuredData: tree ?? (structuredData ? structuredDataOf(structuredData) : {}) };
}

/** Returns true if a process listens on this loopback port. */
export async function accepts(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
