// Approval sources → a running bridge with its real adapters, three approvers, and what it told.
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { ADAPTERS } from '../../../adapters/index.ts';
import type { Bridge } from '../../../src/bridge/bridge-options.ts';
import { startBridge } from '../../../src/bridge.ts';
import { checkConfig, configError } from '../../../src/config/check-config.ts';
import type { SimulatedAzure } from '../../../src/simulator.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import type { LogLine } from '../../virtual/lane-fixture.ts';
import type { CloudEvent } from '../../virtual/memory-sinks.ts';

export type Speaker = 'ops' | 'narrow' | 'second';

const TOKENS = { OPS: 'token-of-the-operators', NARROW: 'token-of-the-narrow-one', SECOND: 'token-of-the-second-one' };
export const SPEAKERS: readonly Speaker[] = ['ops', 'narrow', 'second'];

/** Grows at every poll, so that no two scrapes are alike. */
const POLLS = 'polls_total{result="document"}';

/** A running bridge with its real adapters, an HTTP interface on loopback, and what it told. */
export class ChannelBridge {
  readonly bridge: Bridge;
  readonly logs: readonly LogLine[];
  readonly #stdout: readonly string[];

  private constructor(bridge: Bridge, logs: readonly LogLine[], stdout: readonly string[]) {
    this.bridge = bridge;
    this.logs = logs;
    this.#stdout = stdout;
  }

  /**
   * `narrow` may approve a Freeze alone; a Terminate is never approved, a Redeploy takes all whose scope touches it.
   * Resolves once messages can come.
   */
  static async start(
    t: TestContext,
    azure: SimulatedAzure,
    sources: object = {},
    secrets: Readonly<Record<string, string>> = {},
    sinks: object = {},
  ) {
    const directory = folderOf(t);
    const tokens = Object.fromEntries(SPEAKERS.map((name) => [name, { token: { env: name.toUpperCase() } }]));
    const policy = [
      { when: { impacts: ['Terminate'] }, then: 'never' },
      { when: { impacts: ['Redeploy'] }, then: 'wait', required: 'all' },
    ];
    const approvers = { ...tokens, narrow: { ...tokens['narrow'], scope: { impacts: ['Freeze'] } } };
    const file = {
      version: 1,
      metadata: { endpoint: azure.url, pollInterval: '50ms' },
      store: { path: join(directory, 'store') },
      http: { listen: '127.0.0.1:0' },
      approvals: { approvers, policy, sources },
      sinks: { audit: { type: 'stdout' }, ...sinks },
    };
    const checked = checkConfig(file, {
      adapters: ADAPTERS,
      env: { ...TOKENS, ...secrets },
      directory,
      readFile: () => '',
    });
    if ('faults' in checked) throw configError(checked.faults);
    const [logs, stdout]: [LogLine[], string[]] = [[], []];
    const bridge = await startBridge({
      config: checked.options,
      version: '0.0.0',
      deps: systemDeps(),
      logger: pino({ level: 'info' }, { write: (line: string) => logs.push(JSON.parse(line) as LogLine) }),
      logLinesDropped: () => 0,
      stdout: new Writable({
        write: (chunk, _encoding, done) => {
          stdout.push(String(chunk));
          done();
        },
      }),
      store: { synchronous: 'OFF' },
    });
    t.after(() => bridge[Symbol.asyncDispose]());
    const started = new ChannelBridge(bridge, logs, stdout);
    const isUp = async () => {
      const metrics = await started.metrics();
      return Object.keys(sources).every((name) => metrics.get(`approval_source_up{source="${name}"}`) === 1);
    };
    await poll(isUp, 'sources that are up', 30_000);
    return started;
  }

  /** On standard output so far. */
  get events(): readonly CloudEvent[] {
    const lines = this.#stdout.join('').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as CloudEvent);
  }

  /** By series, without the prefix. */
  async metrics(): Promise<ReadonlyMap<string, number>> {
    const text = await (await fetch(`${this.bridge.url}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      lines
        .map((line) => line.replace('scheduled_events_bridge_', '').split(/ (?=\S+$)/) as [string, string])
        .map(([series, value]) => [series, Number(value)]),
    );
  }

  /** Made after this call: what is served otherwise may be a second old. */
  async freshMetrics(): Promise<ReadonlyMap<string, number>> {
    const first = await this.metrics();
    let latest = first;
    const isNew = async () => {
      latest = await this.metrics();
      return latest.get(POLLS) !== first.get(POLLS);
    };
    await poll(isNew, 'metrics that are made anew');
    return latest;
  }

  /** How many messages of a source had this result. */
  async messages(source: string, result: string, metrics = this.metrics()): Promise<number> {
    return (await metrics).get(`approval_messages_total{source="${source}",result="${result}"}`) ?? 0;
  }

  /** A request without a token may only read. */
  async ask(
    method: string,
    path: string,
    as: Speaker | null = null,
    body?: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    const token = as === null ? {} : { Authorization: `Bearer ${TOKENS[as.toUpperCase() as keyof typeof TOKENS]}` };
    const answer = await fetch(`${this.bridge.url}${path}`, {
      method,
      headers: { ...token, ...headers },
      ...(body !== undefined && { body }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
  }
}
