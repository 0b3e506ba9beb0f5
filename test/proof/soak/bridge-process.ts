// A configuration → the whole bridge in a process, whose clocks run as fast as far sides answer.
// Sockets, store, files, sinks and log are real. Virtual time stands still while a far side owes an answer.
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ADAPTERS } from '../../../adapters/index.ts';
import { startBridge } from '../../../src/bridge.ts';
import { configError } from '../../../src/config/check-config.ts';
import { readConfigFully } from '../../../src/config/read-config.ts';
import { createHttpTransport } from '../../../src/metadata/http-transport.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { Calls } from './calls.ts';
import { measuredInside } from './inside.ts';

/** The parts of a process that its parent chooses. */
export interface ProcessPlan {
  /** The path of the configuration. */
  readonly config: string;
  /** Wall time at the start. */
  readonly startMs: number;
  readonly seed: number;
  /** The longest that virtual time passes before calls are looked at: less than any time limit of a call. */
  readonly stepMs: number;
  /** Bytes that the process keeps for ever at each poll, to prove that they are found; 0: an honest bridge. */
  readonly leakBytes: number;
}

export type ToProcess =
  | { readonly ask: 'inside' | 'stop' }
  /** Deliveries to these sinks never end by themselves. */
  | { readonly ask: 'away'; readonly sinks: readonly string[] };

const plan = JSON.parse(process.argv[2] ?? '') as ProcessPlan;
const time = new VirtualTime({ startMs: plan.startMs, seed: plan.seed });
const calls = new Calls();
const leaked: Buffer[] = [];
let hasEnded = false;

// The parent is gone: nobody would stop this process.
process.on('disconnect', () => hasEnded || process.exit(1));

const checked = await read();
if ('faults' in checked) throw configError(checked.faults);
const { logger, dropped } = await createLogger({ stream: process.stderr, pretty: false, wallMs: time.wallMs });
const transport = createHttpTransport(time);
const starting = startBridge({
  config: checked.options,
  file: { written: checked.written, read },
  version: '0.0.0',
  deps: time,
  logger,
  logLinesDropped: dropped,
  stdout: process.stdout,
  transport: (request, signal) => {
    if (plan.leakBytes > 0) leaked.push(Buffer.alloc(plan.leakBytes, 1));
    return calls.count(() => transport.send(request, signal));
  },
});
const passing = pass();
const bridge = await starting;
process.on('message', (message: ToProcess) => void answer(message));
process.send?.({ url: bridge.url });
await passing;
process.disconnect();

async function answer(message: ToProcess): Promise<void> {
  if (message.ask === 'away') calls.away = new Set(message.sinks);
  if (message.ask === 'stop') await bridge[Symbol.asyncDispose]();
  process.send?.({ inside: measuredInside(time.pending) });
  if (message.ask !== 'stop') return;
  transport.close();
  hasEnded = true;
}

async function pass(): Promise<void> {
  while (!hasEnded) {
    await calls.calm();
    await time.advance(plan.stepMs);
  }
}

function read() {
  return readConfigFully(readFileSync(plan.config, 'utf8'), {
    adapters: ADAPTERS.map((definition) => calls.counted(definition)),
    env: process.env,
    directory: dirname(plan.config),
    readFile: (path) => readFileSync(path, 'utf8'),
  });
}
