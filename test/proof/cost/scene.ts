// A hostile far side, callers and verbs beside each other → what it costs the shipped bridge.
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { residentMb } from '../../support/besieged.ts';
import { memoryLimit } from '../../support/memory-limit.ts';
import { type Program, start } from '../../support/program.ts';
import { bridgeFolder, startRun, TOKEN, urlOf } from '../../support/running-bridge.ts';
import { fillStore, names } from '../../whole/full-store/store-content.ts';
import type { HostileSide } from './far-sides.ts';
import { metadataGate } from './metadata-gate.ts';
import { hostileRequests } from './requests.ts';
import { SHIPPED_FLAGS, SHIPPED_MEMORY } from './shipped.ts';
import { besiege } from './siege.ts';
import type { VerbRun } from './verbs.ts';

const MIB = 1024 * 1024;
const POLL_MS = 500;
/** Of the polls before, and the longest wait of a good approver. */
const LEAST_SHARE = 0.8;
const LONGEST_WAIT_MS = 2000;
const LISTED = 12;

export interface SceneOptions {
  readonly name: string;
  readonly side: (t: TestContext) => Promise<HostileSide>;
  readonly seed: number;
  /** How long the polls are counted before, and during the hostility. */
  readonly seconds: number;
  /** Whether callers send hostile requests beside the far side. */
  readonly hasCallers: boolean;
  /** Whether the metadata service is hostile itself: then no document is expected from every second poll. */
  readonly isMetadataHostile?: boolean;
  /** Runs verbs beside. */
  readonly verbs?: (run: VerbRun) => Promise<readonly string[]>;
}

export interface Cost {
  readonly name: string;
  readonly figures: string;
  /** What was not as promised; empty if all was. */
  readonly failures: readonly string[];
}

export async function costOf(t: TestContext, options: SceneOptions): Promise<Cost> {
  const { name, seconds, seed, hasCallers, isMetadataHostile = false } = options;
  const side = await options.side(t);
  const bridge = await shippedBridge(t, side);
  const failures: string[] = [];
  await pause(500);
  const before = await pollsOf(bridge, () => pause(Math.min(seconds, 4) * 1000));
  bridge.gate.isHostile = isMetadataHostile;
  side.begin?.();
  const watch = new MemoryWatch(bridge.program);
  const siege = hasCallers ? besiege(bridge.port, hostileRequests(TOKEN), seed) : null;
  const waits: number[] = [];
  const during = await pollsOf(bridge, async () => {
    const untilMs = performance.now() + seconds * 1000;
    let areRunning = options.verbs !== undefined;
    const isAlive = () => !bridge.program.hasEnded;
    const running = options.verbs?.({ t, ...bridge, isAlive }).finally(() => {
      areRunning = false;
    });
    while ((performance.now() < untilMs || areRunning) && isAlive()) {
      waits.push(await approve(bridge.url, failures));
      watch.look();
      await pause(100);
    }
    failures.push(...((await running) ?? []));
  });
  await siege?.end();
  bridge.gate.isHostile = false;
  const slowestMs = Math.max(0, ...waits);
  const figures = [
    `memory ${watch.mostMb.toFixed(0)} MB (${bridge.limit})`,
    `polls ${during.toFixed(2)} of ${before.toFixed(2)}`,
    `approver ${slowestMs.toFixed(0)} ms at most of ${waits.length}`,
    side.did(),
    ...(siege ? [`${siege.sent()} requests, ${siege.answered()} answered`] : []),
  ].join(', ');
  if (failures.length > 0) failures.push(bridge.program.stderr.split('\n').slice(-4).join('\n').slice(0, 1500));
  if (bridge.program.hasEnded) failures.push(`the bridge ended: ${bridge.program.child.signalCode}`);
  else if (during < LEAST_SHARE * before && !isMetadataHostile) failures.push('too few polls');
  if (bridge.limit === 'measured' && watch.mostMb > SHIPPED_MEMORY / MIB)
    failures.push(`more memory than the ${SHIPPED_MEMORY / MIB} MiB that are shipped`);
  if (slowestMs > LONGEST_WAIT_MS) failures.push('an approver waited for more than 2 s');
  if (!bridge.program.hasEnded) {
    const { code } = await bridge.program.end('SIGTERM');
    if (code !== 0) failures.push(`the bridge ended with ${code}`);
  }
  return { name, figures, failures: failures.map((failure) => `${name}: ${failure} (${figures})`) };
}

async function shippedBridge(t: TestContext, side: HostileSide) {
  const limit = memoryLimit(SHIPPED_MEMORY);
  if (limit === null) throw new Error('memory is limited by a cgroup or read from /proc, and this system has neither');
  const simulator = start(t, ['simulate', '--listen', '127.0.0.1:0']);
  const { endpoint } = JSON.parse((await simulator.lines(1))[0] ?? '') as { endpoint: string };
  for (let index = 0; index < LISTED; index++)
    await fetch(`${endpoint}/simulator/events`, {
      method: 'POST',
      body: JSON.stringify({ EventType: 'Reboot', Resources: ['sim_0', ...names(20)] }),
    });
  const gate = await metadataGate(t, endpoint);
  const folder = bridgeFolder(t, gate.endpoint, {
    metadata: { endpoint: gate.endpoint, pollInterval: `${POLL_MS}ms`, timeout: '5s' },
    sinks: { audit: { type: 'stdout' }, ...side.sinks },
    http: { listen: '127.0.0.1:0', console: true, drain: {} },
    approvals: {
      approvers: { orders: { token: { env: 'TOKEN' }, admin: true, ...(side.jwt && { subject: 'orders' }) } },
      ...(side.sources && { sources: side.sources }),
      ...(side.jwt && { jwt: side.jwt }),
    },
  });
  fillStore(folder.store, { events: 883, names: 20 });
  const program = await startRun(t, folder, {
    env: { TOKEN, ANY: 'any-secret-of-16-characters', ...side.env },
    launcher: limit.launcher,
    flags: SHIPPED_FLAGS,
    // Nobody reads standard output.
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  program.child.stdout?.removeAllListeners('data').pause();
  const url = urlOf(program);
  return { program, folder, gate, url, port: Number(new URL(url).port), limit: limit.kind };
}

type ShippedBridge = Awaited<ReturnType<typeof shippedBridge>>;

/** Polls as a share of those that the interval makes. */
async function pollsOf({ gate }: ShippedBridge, during: () => Promise<unknown>): Promise<number> {
  const [before, fromMs] = [gate.polls, performance.now()];
  await during();
  return ((gate.polls - before) * POLL_MS) / (performance.now() - fromMs);
}

/** Returns how long a valid approver waits for its answer. */
async function approve(url: string, failures: string[]): Promise<number> {
  const sinceMs = performance.now();
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', connection: 'close' };
  const body = '{"StartRequests":[{"EventId":"nobody-knows-it"}]}';
  try {
    const signal = AbortSignal.timeout(20_000);
    const { status } = await fetch(`${url}/v1/approvals`, { method: 'POST', headers, body, signal });
    if (status !== 404) failures.push(`an approver was answered ${status}`);
  } catch (error) {
    failures.push(`an approver was not answered: ${(error as Error).cause ?? error}`);
  }
  return performance.now() - sinceMs;
}

/** The memory of a process without the pages of files, which the kernel can take back. */
class MemoryWatch {
  readonly #program: Program;
  mostMb = 0;

  constructor(program: Program) {
    this.#program = program;
  }

  look(): void {
    if (this.#program.hasEnded) return;
    const status = readFileSync(`/proc/${this.#program.child.pid}/status`, 'utf8');
    const filesMb = Number(/^RssFile:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
    const mb = residentMb(this.#program) - filesMb;
    if (mb > this.mostMb) this.mostMb = mb;
  }
}
