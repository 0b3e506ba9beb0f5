// A test → the real Fluent Bit with an input for each sink, and the records that it wrote.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { PortBlock } from '../kafka/ports.ts';
import { onPath } from '../maven-jars.ts';
import { accepts } from '../syslog/syslog-daemon.ts';

const PROGRAM = process.env['FLUENT_BIT'] ?? 'fluent-bit';

/** For the `skip` of a test: false, or the reason. @throws instead if REQUIRE_FLUENT_BIT is set */
export const withoutFluentBit: string | false = absence();

function absence(): string | false {
  if (existsSync(PROGRAM) || onPath(PROGRAM)) return false;
  const reason = 'there is no Fluent Bit: install it, or name its program in FLUENT_BIT';
  if (process.env['REQUIRE_FLUENT_BIT']) throw new Error(`${reason}; REQUIRE_FLUENT_BIT is set`);
  return reason;
}

/** Its inputs, each with the lines of its configuration and the name of its records. */
const INPUTS = {
  elasticsearch: 'name elasticsearch',
  splunk: 'name splunk',
  otlp: 'name opentelemetry',
  /** As its documentation shows it, which means lines. */
  lines: 'name syslog\n  mode tcp\n  parser whole\n  buffer_max_size 1M\n  buffer_chunk_size 1M',
  counted:
    'name syslog\n  mode tcp\n  format octet_counting\n  parser whole\n  buffer_max_size 1M\n  buffer_chunk_size 1M',
} as const;

export type Input = keyof typeof INPUTS;
type Records = readonly Readonly<Record<string, unknown>>[];

export class FluentBit {
  readonly #folder: string;
  readonly #ports: Readonly<Record<Input, number>>;

  private constructor(folder: string, ports: Readonly<Record<Input, number>>) {
    this.#folder = folder;
    this.#ports = ports;
  }

  /** It listens on every port. */
  static async start(t: TestContext): Promise<FluentBit> {
    const folder = folderOf(t);
    const block = await PortBlock.claim();
    t.after(() => block[Symbol.dispose]());
    const names = Object.keys(INPUTS) as Input[];
    const ports = Object.fromEntries(names.map((name, place) => [name, block.port(place)])) as Record<Input, number>;
    writeFileSync(join(folder, 'parsers.conf'), '[PARSER]\n  name whole\n  format regex\n  regex ^(?<line>.*)$\n');
    writeFileSync(join(folder, 'fluent-bit.conf'), configuration(folder, ports));
    const program = spawn(PROGRAM, ['-c', join(folder, 'fluent-bit.conf')], { stdio: ['ignore', 'pipe', 'pipe'] });
    t.after(() => end(program));
    let log = '';
    for (const stream of [program.stdout, program.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (log += text));
    await poll(
      async () => (await Promise.all(Object.values(ports).map(accepts))).every(Boolean),
      () => `Fluent Bit to listen: ${log}`,
    );
    return new FluentBit(folder, ports);
  }

  /** `127.0.0.1:PORT`. */
  address(input: Input): string {
    return `127.0.0.1:${this.#ports[input]}`;
  }

  /** What it has written of this input, in order of arrival. It writes several times a second. */
  read(input: Input): Records {
    const file = join(this.#folder, input);
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line));
  }

  /** Once it has written so many. */
  async readWhenThere(input: Input, count: number): Promise<Records> {
    await poll(
      () => this.read(input).length >= count,
      () => `${count} records of ${input}, not ${this.read(input).length}`,
    );
    return this.read(input);
  }
}

function configuration(folder: string, ports: Readonly<Record<Input, number>>): string {
  const inputs = (Object.keys(INPUTS) as Input[]).map(
    (input) => `[INPUT]\n  ${INPUTS[input]}\n  listen 127.0.0.1\n  port ${ports[input]}\n  tag ${input}\n`,
  );
  const service = `[SERVICE]\n  flush 0.2\n  grace 1\n  parsers_file ${join(folder, 'parsers.conf')}\n`;
  return `${service}${inputs.join('')}[OUTPUT]\n  name file\n  match *\n  path ${folder}\n  format plain\n`;
}

async function end(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const ended = once(program, 'exit');
  program.kill('SIGTERM');
  await ended;
}
