// `demo`: nothing → one simulated maintenance, explained step by step on standard output.
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ADAPTERS } from '../../adapters/index.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { startBridge } from '../bridge.ts';
import { checkConfig, configError } from '../config/check-config.ts';
import { type Approver, createApprover, createReceiver, http, preparation, toNodeHandler } from '../consumer.ts';
import { symmetricSecret } from '../secrets/webhook-secret.ts';
import { startSimulator } from '../simulator/server.ts';
import { findScenario } from '../simulator/shipped-scenarios.ts';
import { createLogger } from '../telemetry/logger.ts';
import { type Deps, deadline } from '../time/clock.ts';
import { STOP_LIMIT_MS } from '../time/stop.ts';
import { EXIT, type Verb } from './verb.ts';

/** 15 min of notice take 7.5 s, and the 10 min from `Started` to the end 5 s. */
const SPEED = 120;
const LIMIT_MS = 30_000;

export const demoVerb: Verb = {
  usage: '',
  description: `Runs one simulated maintenance with a bridge and a subscriber that approves it, and explains each step. Takes about 10 s.
Needs no broker and no Azure, and leaves nothing behind.`,
  options: {},
  closeLimitMs: STOP_LIMIT_MS,
  examples: [['scheduled-events-bridge demo', 'see one maintenance from start to end']],
  async run({ deps, stderr, print, signal }) {
    // Errors only: the bridge rightly warns that the simulated clock, which runs faster, is not this machine's.
    const { logger } = await createLogger({
      stream: stderr,
      level: 'error',
      pretty: stderr.isTTY,
      wallMs: deps.wallMs,
    });
    await playDemo({ version: packageJson.version, deps, logger, print, signal });
    return EXIT.fine;
  },
};

interface DemoParts {
  readonly version: string;
  readonly deps: Deps;
  readonly logger: Logger;
  /** Prints a line on standard output. */
  readonly print: (line: string) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Runs the demo to its end. @throws an error if the maintenance has not ended within 30 s; the signal's reason */
async function playDemo(parts: DemoParts): Promise<void> {
  const { version, deps, logger, print, signal } = parts;
  using limit = deadline(
    deps,
    LIMIT_MS,
    () => new Error(`the maintenance has not ended within ${LIMIT_MS / 1000} s`),
    signal,
  );
  const folder = await mkdtemp(join(tmpdir(), 'scheduled-events-bridge-demo-'));
  const token = Array.from({ length: 4 }, () => deps.random().toString(36).slice(2).padEnd(10, '0')).join('');
  const secret = symmetricSecret(Uint8Array.from({ length: 32 }, () => deps.random() * 256));
  try {
    await using simulator = await startSimulator({
      listen: { host: '127.0.0.1', port: 0 },
      vms: ['web_0'],
      speed: SPEED,
      deps,
      logger,
    });
    await print(
      `The simulated metadata service of the VM web_0 answers at ${simulator.url}. Its clock runs ${SPEED} times as fast as real time.`,
    );
    await using subscriber = await startSubscriber(parts, secret);
    await print(`A subscriber waits for CloudEvents at ${subscriber.url}.`);
    const config = demoConfig({ endpoint: simulator.url, hook: subscriber.url, folder, token, secret });
    await using bridge = await startBridge({
      config,
      version,
      deps,
      logger,
      logLinesDropped: () => 0,
      stdout: process.stdout,
    });
    subscriber.approveBy(createApprover(http({ url: bridge.url, token })));
    await print(
      `The bridge polls the metadata service and delivers CloudEvents to the subscriber. Its HTTP interface is at ${bridge.url}.\n`,
    );
    simulator.group.play(await findScenario('demo'));
    await Promise.race([subscriber.done, aborted(limit.signal)]);
    await print(
      '\nThat was one maintenance, from scheduled to ended. README.md shows how to try it by hand, and how to run the bridge on a VM.',
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function demoConfig(names: { endpoint: string; hook: string; folder: string; token: string; secret: string }) {
  const checked = checkConfig(
    {
      version: 1,
      metadata: { endpoint: names.endpoint },
      store: { path: names.folder },
      http: { listen: '127.0.0.1:0' },
      approvals: { approvers: { subscriber: { token: { env: 'DEMO_TOKEN' } } } },
      sinks: {
        subscriber: {
          type: 'webhook',
          url: names.hook,
          secrets: [{ env: 'DEMO_SECRET' }],
          allowInsecure: true,
          allowPrivate: ['127.0.0.0/8'],
        },
      },
    },
    {
      adapters: ADAPTERS,
      env: { DEMO_TOKEN: names.token, DEMO_SECRET: names.secret },
      directory: names.folder,
      readFile: () => '',
    },
  );
  if ('faults' in checked) throw configError(checked.faults);
  return checked.options;
}

interface Subscriber extends AsyncDisposable {
  readonly url: string;
  /** Resolves when the event has ended. */
  readonly done: Promise<void>;
  approveBy(approver: Approver): void;
}

/** Starts a minimal consumer, based on the consumer library: it prepares, approves and recovers. */
async function startSubscriber({ print, logger }: DemoParts, secret: string): Promise<Subscriber> {
  const done = Promise.withResolvers<void>();
  let approver: Approver | null = null;
  const prepared = preparation({
    prepare: async (event) => {
      const { eventSource, eventType, resources, notBefore, description } = event.data;
      const what = `${eventSource} plans a ${eventType.toLowerCase()} of ${resources.join(', ')}`;
      await print(`scheduled   ${what}, not before ${notBefore}: "${description}"`);
      await print(`            The subscriber drains its work and approves, so that the maintenance can start now …`);
      await print(`            … the bridge answers ${(await approver?.approve(event))?.state ?? 'nothing'}.`);
    },
    recover: async (_, outcome) => {
      await print(`ended       The event is no longer listed (outcome: ${outcome}). The subscriber resumes its work.`);
      done.resolve();
    },
  });
  const receiver = createReceiver({
    secrets: secret,
    handlers: {
      ...prepared,
      onStarted: async (event, context) => {
        await prepared.onStarted(event, context);
        await print(
          `started     The maintenance has started, approved by ${event.data.observer.approval?.approvedBy.join(', ') || 'nobody'}.`,
        );
      },
    },
    onError: (error) => logger.error({ err: error }, 'the demo subscriber failed'),
  });
  const server = process.getBuiltinModule('node:http').createServer(toNodeHandler(receiver));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    done: done.promise,
    approveBy: (by) => {
      approver = by;
    },
    [Symbol.asyncDispose]: () => close(server),
  };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}
