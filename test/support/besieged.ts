// A bridge and a simulator as processes → their ports and memory, and how often the bridge polls.
import { readFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type Program, type ProgramOptions, start } from './program.ts';
import { type BridgeFolder, bridgeFolder, type Sections, startRun, TOKEN, urlOf } from './running-bridge.ts';

/** Longer than what a busy machine adds to a poll, and short enough for many of them. */
const POLL_MS = 500;

export interface Besieged {
  readonly main: number;
  readonly health: number;
  readonly simulator: number;
  readonly bridgeProcess: Program;
  readonly simulatorProcess: Program;
  /** Polls that the simulator answered well, by the bridge's own count. */
  polls(): Promise<number>;
  /** The status of a valid approver's request for an event that is not known: 404. */
  approve(signal?: AbortSignal): Promise<number>;
}

export interface BesiegedOptions {
  /** Of the configuration, besides what every such bridge has. */
  readonly sections?: Sections;
  /** Called before the bridge starts. */
  readonly prepare?: (folder: BridgeFolder) => void;
  /** Events that are listed from the beginning. */
  readonly listed?: readonly object[];
  /** How the bridge is started. */
  readonly program?: ProgramOptions;
}

export async function besieged(
  t: TestContext,
  { sections = {}, prepare, listed = [], program }: BesiegedOptions = {},
): Promise<Besieged> {
  const simulatorProcess = start(t, ['simulate', '--listen', '127.0.0.1:0']);
  const { endpoint } = JSON.parse((await simulatorProcess.lines(1))[0] ?? '') as { endpoint: string };
  const health = await freePort();
  const folder = bridgeFolder(t, endpoint, {
    metadata: { endpoint, pollInterval: `${POLL_MS}ms` },
    ...sections,
    http: { listen: '127.0.0.1:0', health: `127.0.0.1:${health}`, ...(sections['http'] as object | undefined) },
    approvals: { approvers: { orders: { token: { env: 'ORDERS_TOKEN' } } } },
  });
  for (const event of listed)
    await fetch(`${endpoint}/simulator/events`, { method: 'POST', body: JSON.stringify(event) });
  prepare?.(folder);
  const bridgeProcess = await startRun(t, folder, { ...program, env: { ORDERS_TOKEN: TOKEN } });
  const url = urlOf(bridgeProcess);
  const polls = async () => {
    const text = await (await fetch(`${url}/metrics`, { headers: { connection: 'close' } })).text();
    return Number(/polls_total\{result="document"\} (\d+)/.exec(text)?.[1]);
  };
  const approve = async (signal?: AbortSignal) => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', connection: 'close' };
    const body = '{"StartRequests":[{"EventId":"nobody-knows-it"}]}';
    return (await fetch(`${url}/v1/approvals`, { method: 'POST', headers, body, signal: signal ?? null })).status;
  };
  const ports = { main: Number(new URL(url).port), health, simulator: Number(new URL(endpoint).port) };
  return { ...ports, bridgeProcess, simulatorProcess, polls, approve };
}

/** Polls in so many milliseconds as a share of those that the interval makes of them. */
export async function pollShare({ polls }: Besieged, during: () => Promise<unknown>): Promise<number> {
  const [before, fromMs] = [await polls(), performance.now()];
  await during();
  const [after, toMs] = [await polls(), performance.now()];
  return ((after - before) * POLL_MS) / (toMs - fromMs);
}

/** Of a process on Linux. */
export function residentMb({ child }: Program): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** One of loopback that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
