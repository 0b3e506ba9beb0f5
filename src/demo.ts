// Nothing → one maintenance from scheduled to ended, for people to watch: a simulated metadata service, the bridge, and a subscriber that approves.
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CloudEventV1, HTTP } from 'cloudevents';
import type { Logger } from 'pino';
import { ADAPTERS } from '../adapters/index.ts';
import { startBridge } from './bridge.ts';
import type { EventData } from './cloudevents/data.ts';
import { checkConfig } from './config/check-config.ts';
import { configError } from './config/config-error.ts';
import { startSimulator } from './simulator/server.ts';
import { findScenario } from './simulator/shipped-scenarios.ts';
import { type Deps, deadline } from './time.ts';

/** 15 min of notice are 7.5 s, 10 min from `Started` to gone 5 s. */
const SPEED = 120;
const LIMIT_MS = 30_000;

export interface DemoParts {
  readonly version: string;
  readonly deps: Deps;
  readonly logger: Logger;
  /** Prints a line of the tale. */
  readonly say: (line: string) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Tells the tale to its end. @throws when the maintenance has not ended within 30 s, or the signal's reason */
export async function playDemo(parts: DemoParts): Promise<void> {
  const { version, deps, logger, say, signal } = parts;
  const limit = deadline(deps, LIMIT_MS, () => new Error(`the maintenance has not ended within ${LIMIT_MS / 1000} s`), signal);
  const folder = await mkdtemp(join(tmpdir(), 'scheduled-events-bridge-demo-'));
  const token = Array.from({ length: 4 }, () => deps.random().toString(36).slice(2).padEnd(10, '0')).join('');
  try {
    await using simulator = await startSimulator({ listen: { host: '127.0.0.1', port: 0 }, vms: ['web_0'], speed: SPEED, deps, logger });
    await say(
      `A simulated metadata service answers at ${simulator.url}, ${SPEED} times as fast as the real one. It speaks for the VM web_0.`,
    );
    await using subscriber = await startSubscriber(parts);
    await say(`A subscriber waits for CloudEvents at ${subscriber.url}.`);
    const config = demoConfig({ endpoint: simulator.url, hook: subscriber.url, folder, token });
    await using bridge = await startBridge({ config, version, deps, logger, logLinesDropped: () => 0, stdout: process.stdout });
    subscriber.approveWith(async (eventId, seen) => {
      const response = await fetch(`${bridge.url}/v1/approvals`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ StartRequests: [{ EventId: eventId, Seen: seen }] }),
        signal: limit.signal,
      });
      const { results } = (await response.json()) as { results?: { state: string }[] };
      return `${response.status}, ${results?.[0]?.state ?? 'refused'}`;
    });
    await say(`The bridge polls the one once a second and delivers to the other; its own interface is at ${bridge.url}.\n`);
    simulator.group.play(await findScenario('demo'));
    await Promise.race([subscriber.done, aborted(limit.signal)]);
    await say('\nThat was one maintenance, from scheduled to ended. README.md says how to try it by hand, and how to run it beside a VM.');
  } finally {
    limit.cancel();
    await rm(folder, { recursive: true, force: true });
  }
}

function demoConfig(names: { endpoint: string; hook: string; folder: string; token: string }) {
  const checked = checkConfig(
    {
      version: 1,
      metadata: { endpoint: names.endpoint },
      store: { path: names.folder },
      http: { listen: '127.0.0.1:0' },
      approvals: { approvers: { subscriber: { token: { env: 'DEMO_TOKEN' } } } },
      sinks: { subscriber: { type: 'webhook', url: names.hook, allowInsecure: true, allowPrivate: ['127.0.0.0/8'] } },
    },
    { adapters: ADAPTERS, env: { DEMO_TOKEN: names.token }, directory: names.folder, readFile: () => '' },
  );
  if ('faults' in checked) throw configError(checked.faults);
  return checked.options;
}

type Approve = (eventId: string, seen: string) => Promise<string>;

interface Subscriber extends AsyncDisposable {
  readonly url: string;
  /** Resolves when the event has ended. */
  readonly done: Promise<void>;
  approveWith(approve: Approve): void;
}

/** What a consumer does, in its simplest form: reads CloudEvents by the SDK, prepares, approves, recovers. */
async function startSubscriber({ say, logger }: DemoParts): Promise<Subscriber> {
  const done = Promise.withResolvers<void>();
  let approve: Approve | null = null;
  const take = async (event: CloudEventV1<EventData>) => {
    const data = event.data as EventData;
    const change = event.type.split('.').at(-2);
    if (change === 'scheduled') {
      await say(
        `scheduled   ${data.eventSource} wants to ${data.eventType.toLowerCase()} ${data.resources.join(', ')}, not before ${data.notBefore}: "${data.description}"`,
      );
      await say(`            The subscriber prepares (drains its work) and approves, so that it need not wait until then …`);
      await say(`            … the bridge answers ${(await approve?.(data.eventId, event.id)) ?? 'nothing'}.`);
    } else if (change === 'started') {
      await say(`started     It happens now, approved by ${data.observer.approval?.approvedBy.join(', ') || 'nobody'}.`);
    } else if (change === 'ended') {
      await say(`ended       It is no longer listed (outcome: ${data.outcome}). The subscriber recovers and takes up its work again.`);
      done.resolve();
    }
  };
  const server = process.getBuiltinModule('node:http').createServer((request, response) => {
    receive(request, response, (body) =>
      take(HTTP.toEvent<EventData>({ headers: request.headers, body }) as CloudEventV1<EventData>),
    ).catch((error: unknown) => logger.error({ err: error }, 'the demo subscriber failed'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    done: done.promise,
    approveWith: (by) => {
      approve = by;
    },
    [Symbol.asyncDispose]: () => close(server),
  };
}

/** Answers before it works: an approval that is asked for inside a delivery must not hold the delivery up. */
async function receive(request: IncomingMessage, response: ServerResponse, take: (body: string) => Promise<void>): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  response.writeHead(204).end();
  await take(Buffer.concat(chunks).toString());
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
