// A simulator with 1,000 events → requests a CPU second, memory, time for a simulated month.
import { Agent, request } from 'node:http';
import { Group } from '../../src/simulator/group.ts';
import { shippedScenarios } from '../../src/simulator/shipped-scenarios.ts';
import { systemDeps } from '../../src/time/system.ts';
import { Program } from '../support/program.ts';
import { pidOf } from './bridge-between.ts';
import { cpuMs, type Row, rssMb } from './figures.ts';

const EVENTS = 1000;
const REQUESTS = 10_000;
const CONNECTIONS = 4;
const PATH = '/metadata/scheduledevents?api-version=2020-07-01';
const MONTH_MS = 30 * 24 * 60 * 60 * 1000;

export async function simulator(): Promise<readonly Row[]> {
  return [...(await load()), await month()];
}

async function load(): Promise<readonly Row[]> {
  const program = new Program(['simulate', '--listen', '127.0.0.1:0']);
  try {
    const { endpoint } = JSON.parse((await program.lines(1))[0] ?? '') as { endpoint: string };
    for (let event = 0; event < EVENTS; event++) {
      await fetch(`${endpoint}/simulator/events`, { method: 'POST', body: '{"startedFor":"30d","notice":"30d"}' });
    }
    const rows: Row[] = [];
    for (const [what, headers] of [
      ['whole documents', {}],
      ['304s', { 'If-None-Match': `"${EVENTS + 1}"` }],
    ] as const) {
      await drive(endpoint, headers, REQUESTS / 10);
      const before = { cpu: cpuMs(pidOf(program)), ms: performance.now() };
      const bytes = await drive(endpoint, headers, REQUESTS);
      const [cpu, ms] = [cpuMs(pidOf(program)) - before.cpu, performance.now() - before.ms];
      const size = bytes === 0 ? '' : ` of ${Math.round(bytes / REQUESTS / 1000)} kB`;
      const figure = `${perSecond(cpu)} a second of its CPU, ${perSecond(ms)} a second with the client`;
      rows.push({
        what: `simulator, ${EVENTS.toLocaleString('en')} events: ${what}${size}`,
        figure,
        goal: '≥ 1000 on one core',
      });
    }
    rows.push({
      what: 'simulator: RSS after these',
      figure: `${rssMb(pidOf(program)).toFixed(1)} MB`,
      goal: '≤ 100 MB',
    });
    return rows;
  } finally {
    await program.end('SIGTERM');
  }
}

function perSecond(ms: number): string {
  return Math.round((REQUESTS * 1000) / ms).toLocaleString('en');
}

/** Asks `count` times over some kept connections; how many bytes of bodies came. */
async function drive(endpoint: string, headers: Readonly<Record<string, string>>, count: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let left = count;
  let bytes = 0;
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      request(endpoint + PATH, { agent, headers: { Metadata: 'true', ...headers } }, (response) => {
        response.on('data', (chunk: Uint8Array) => {
          bytes += chunk.length;
        });
        response.on('end', resolve);
      })
        .on('error', reject)
        .end();
    });
  const client = async () => {
    while (left-- > 0) await ask();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  agent.destroy();
  return bytes;
}

/** The slowest of all scenarios that are shipped, with nobody asking. */
async function month(): Promise<Row> {
  const scenarios = await shippedScenarios();
  const figures = scenarios.map((script) => {
    const group = new Group({ deps: systemDeps(), vms: ['sim_0', 'sim_1', 'sim_2', 'sim_3', 'sim_4'], speed: 0 });
    const before = performance.now();
    group.play(script);
    group.clock.advance(MONTH_MS);
    group.catchUp();
    return { name: script.name, ms: performance.now() - before, incarnations: group.events.view.incarnation };
  });
  const slowest = figures.reduce((one, other) => (other.ms > one.ms ? other : one));
  const figure = `${slowest.ms.toFixed(0)} ms (${slowest.name}, ${slowest.incarnations.toLocaleString('en')} incarnations)`;
  return { what: `30 days of scenario time, slowest of ${scenarios.length}`, figure, goal: '≤ 1000 ms' };
}
