// `simulate`: options → a simulated, replayed or recorded metadata service, until it is stopped.
import type { Logger } from 'pino';
import { startRecording } from '../simulator/recording/recorder.ts';
import { startRecordingProxy } from '../simulator/recording/recording-proxy.ts';
import { scriptOfRecording } from '../simulator/recording/replay.ts';
import { type SimulatorServer, startSimulator } from '../simulator/server.ts';
import { scenarioNames, shippedScenarios } from '../simulator/shipped-scenarios.ts';
import { createLogger } from '../telemetry/logger.ts';
import {
  allowHostsOption,
  groupOptions,
  listenOption,
  oneListenOption,
  type RecordOptions,
  recordingOption,
} from './simulate-options.ts';
import { EXIT, interrupted, optionText, type Verb, type VerbContext } from './verb.ts';

export const simulateVerb: Verb = {
  usage: '--listen HOST:PORT [--vms N] [--scenario NAME|FILE] [--speed N] [--strict] | --list',
  description: `Simulates the Azure metadata service, with control routes under /simulator and a page at / to watch and control it.
docs/simulate/simulator.md describes each route. Without --scenario it starts without events. Runs until SIGTERM or SIGINT.`,
  options: {
    listen: {
      type: 'string',
      multiple: true,
      value: 'HOST:PORT',
      help: 'address to listen on; port 0 uses a free port (default 127.0.0.1:8080); repeat it to give each machine its own address',
    },
    also: {
      type: 'string',
      multiple: true,
      value: 'HOST:PORT',
      help: 'additional address of the first machine; can be repeated',
    },
    client: {
      type: 'string',
      multiple: true,
      value: 'ADDRESS',
      help: "IP address of a machine's client, once for each machine; all machines then answer at --listen",
    },
    'allow-host': {
      type: 'string',
      multiple: true,
      value: 'NAME',
      help: 'additional name that requests on loopback may have in Host; can be repeated',
    },
    vms: {
      type: 'string',
      value: 'N',
      help: 'machines in the group, on PORT, PORT+1, … (default 1, or set by the scenario)',
    },
    name: {
      type: 'string',
      value: 'NAME',
      help: "prefix of NAME_0, NAME_1, … (default sim); without --vms, the only machine's name",
    },
    gpu: { type: 'boolean', help: 'GPU machines in one fault domain: each sees only its own events' },
    scenario: {
      type: 'string',
      value: 'NAME|FILE',
      help: 'plays a scenario from the start',
      names: scenarioNames,
    },
    list: { type: 'boolean', help: 'lists the scenarios and their purposes' },
    speed: { type: 'string', value: 'N', help: 'simulated seconds per second (default 1)' },
    'not-before': {
      type: 'string',
      value: 'CLOCK',
      help: 'clock in which NotBefore is listed: simulated (default) or wall',
    },
    strict: {
      type: 'boolean',
      help: 'first answer after 2 min, events after 5 min, changes up to 1 min late, off after 24 h without requests, 5 requests/s',
    },
    'api-versions': {
      type: 'string',
      value: 'LIST',
      help: 'api-versions that the host supports, separated by commas (default all eight)',
    },
    'unknown-api-version': {
      type: 'string',
      value: '400|404',
      help: 'status for an unsupported api-version (default 400)',
    },
    replay: { type: 'string', value: 'FILE', help: 'plays a recording from the start' },
    record: { type: 'string', value: 'FILE', help: 'records each new document and each POST' },
    upstream: {
      type: 'string',
      value: 'URL',
      help: 'with --record: forwards requests to this real metadata service and records its answers',
    },
    anonymise: { type: 'boolean', help: 'with --record: replaces names and ids in the file' },
  },
  examples: [
    ['scheduled-events-bridge simulate --listen 127.0.0.1:8080', 'an empty metadata service'],
    ['curl -d \'{"EventType":"Reboot"}\' http://127.0.0.1:8080/simulator/events', 'schedule a reboot on it'],
    [
      'scheduled-events-bridge simulate --listen 127.0.0.1:8080 --scenario live-migration --speed 60',
      'a scenario at 60 times the speed',
    ],
    [
      'scheduled-events-bridge simulate --listen 127.0.0.1:8080 --vms 3 --name web',
      'web_0, web_1 and web_2, on 8080, 8081 and 8082',
    ],
    [
      'scheduled-events-bridge simulate --record maintenance.ndjson --upstream http://169.254.169.254',
      'on a VM: record the real service',
    ],
  ],
  async run(context) {
    if (context.values['list']) return list(context);
    const { logger } = await createLogger({
      stream: context.stderr,
      level: 'info',
      pretty: context.stderr.isTTY,
      wallMs: context.deps.wallMs,
    });
    const recordOptions = recordingOption(context);
    if (recordOptions?.upstream !== undefined) {
      const { path, anonymise, upstream } = recordOptions;
      await using proxy = await startRecordingProxy({
        listen: oneListenOption(context),
        allowHosts: allowHostsOption(context),
        path,
        anonymise,
        upstream,
        deps: context.deps,
        logger,
      });
      return await serve(context, [{ endpoint: proxy.url }]);
    }
    await using open = new AsyncDisposableStack();
    const server = await start(context, recordOptions, open, logger);
    return await serve(
      context,
      server.urls.map(({ vm, url }) => ({ vm, endpoint: url })),
    );
  },
};

async function list(context: VerbContext): Promise<number> {
  const scenarios = await shippedScenarios();
  const width = Math.max(...scenarios.map(({ name }) => name.length)) + 2;
  for (const { name, purpose } of scenarios) await context.print(name.padEnd(width) + purpose);
  return EXIT.fine;
}

/** Starts the simulated service and, if asked for, a recording of its answers. `open` closes both. */
async function start(
  context: VerbContext,
  recordOptions: RecordOptions | null,
  open: AsyncDisposableStack,
  logger: Logger,
): Promise<SimulatorServer> {
  const { deps } = context;
  const group = groupOptions(context);
  const played = optionText(context, 'replay');
  const script = played === undefined ? undefined : await scriptOfRecording(played);
  const recording =
    recordOptions && open.use(await startRecording({ ...recordOptions, startedAtMs: deps.wallMs(), deps, logger }));
  const options = {
    ...group,
    listen: listenOption(context),
    allowHosts: allowHostsOption(context),
    ...(script ? { script } : {}),
    deps,
    logger,
  };
  return open.use(await startSimulator(recording ? { ...options, onAnswer: recording.record } : options));
}

/** Prints one line for each machine, then waits until it is interrupted. */
async function serve(context: VerbContext, addresses: readonly object[]): Promise<number> {
  for (const address of addresses) await context.print(JSON.stringify(address));
  await interrupted(context);
  return EXIT.fine;
}
