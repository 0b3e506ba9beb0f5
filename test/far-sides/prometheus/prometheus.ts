// Targets and rules → promtool, and a Prometheus that scrapes once a second until the test ends.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import * as v from 'valibot';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { freePorts } from '../simulator-server.ts';

/** The folder that Debian's package was unpacked in; empty where it is installed. */
const ROOT = process.env['PROMETHEUS_ROOT'];
const programAt = (name: string) => (ROOT ? join(ROOT, 'usr/bin', name) : name);

/** For the `skip` of a test: false, or the reason. @throws instead with REQUIRE_PROMETHEUS, as in CI */
export const withoutPrometheus: string | false = absence();

function absence(): string | false {
  if (['prometheus', 'promtool'].every((name) => spawnSync(programAt(name), ['--version']).status === 0)) return false;
  const reason = 'Prometheus is not installed, and PROMETHEUS_ROOT names no folder where its package was unpacked';
  if (process.env['REQUIRE_PROMETHEUS']) throw new Error(`REQUIRE_PROMETHEUS is set: ${reason}`);
  return reason;
}

/** What it says, and whether it is content. */
export function promtool(...args: readonly string[]): { readonly isGood: boolean; readonly said: string } {
  const { status, stdout, stderr } = spawnSync(programAt('promtool'), args, { encoding: 'utf8' });
  return { isGood: status === 0, said: stdout + stderr };
}

const series = v.object({ metric: v.record(v.string(), v.string()), value: v.tuple([v.number(), v.string()]) });
const queried = v.object({
  status: v.literal('success'),
  data: v.object({ resultType: v.literal('vector'), result: v.array(series) }),
});
const alert = v.object({
  labels: v.record(v.string(), v.string()),
  annotations: v.record(v.string(), v.string()),
  state: v.string(),
});
const alerted = v.object({ data: v.object({ alerts: v.array(alert) }) });

export class Prometheus {
  readonly #url: string;

  private constructor(url: string) {
    this.#url = url;
  }

  /** `targets` by job, as `host:port`; `rules` is a file. Resolves once it answers. */
  static async start(
    t: TestContext,
    targets: Readonly<Record<string, readonly string[]>>,
    rules: string,
  ): Promise<Prometheus> {
    const folder = folderOf(t);
    const listen = `127.0.0.1:${await freePorts()}`;
    const jobs = Object.entries(targets).map(([job, of]) => ({ job_name: job, static_configs: [{ targets: of }] }));
    const config = join(folder, 'prometheus.yml');
    // JSON is YAML.
    const global = { scrape_interval: '1s', evaluation_interval: '1s' };
    writeFileSync(config, JSON.stringify({ global, rule_files: [rules], scrape_configs: jobs }));
    const args = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${listen}`,
    ];
    const child = spawn(programAt('prometheus'), args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const said = heard(child);
    t.after(async () => {
      if (child.exitCode !== null) return;
      child.kill();
      await once(child, 'exit');
    });
    const prometheus = new Prometheus(`http://${listen}`);
    await poll(() => prometheus.#isReady(), said);
    return prometheus;
  }

  /** The series that a query gives now, with their values. @throws where it is none */
  async query(
    expr: string,
  ): Promise<readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[]> {
    const { data } = v.parse(queried, await this.#get(`/api/v1/query?query=${encodeURIComponent(expr)}`), {
      abortEarly: true,
    });
    return data.result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
  }

  /** Those whose condition holds now, whether they fire yet or not. */
  async alerts(): Promise<readonly v.InferOutput<typeof alert>[]> {
    return v.parse(alerted, await this.#get('/api/v1/alerts')).data.alerts;
  }

  async #isReady(): Promise<boolean> {
    const ready = fetch(`${this.#url}/-/ready`).then(({ ok }) => ok);
    return await ready.catch(() => false);
  }

  async #get(path: string): Promise<unknown> {
    return await (await fetch(`${this.#url}${path}`)).json();
  }
}

function heard(child: ChildProcess): () => string {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return () => `Prometheus; it says: ${said}`;
}
