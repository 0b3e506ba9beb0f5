// `simulate`: options → a simulated or replayed metadata service until it is stopped.
import type { Logger } from 'pino';
import { startRecordingProxy } from '../simulator/recording/recording-proxy.ts';
import { replay } from '../simulator/recording/replay.ts';
import { startRecording } from '../simulator/recording/start-recording.ts';
import { type SimulatorServer, startSimulator } from '../simulator/server.ts';
import { shippedScenarios } from '../simulator/shipped-scenarios.ts';
import { createLogger } from '../telemetry/logger.ts';
import { allowHostsOption, groupOptions, listenOption, oneListenOption, type RecordOptions, recordingOption } from './simulate-options.ts';
import { EXIT, interrupted, text, type Verb, type VerbContext } from './verb.ts';

export const simulate: Verb = {
  usage: '--listen HOST:PORT [--vms N] [--scenario NAME|FILE] [--speed N] [--strict] | --list',
  description: `Answers as the Azure metadata service does, and takes orders on /simulator; a page at / shows it and steers it.
docs/simulate/simulator.md describes each route. Without --scenario it starts empty. Ends at SIGTERM or SIGINT.`,
  options: {
    listen: {
      type: 'string',
      multiple: true,
      value: 'HOST:PORT',
      help: 'where to listen; port 0 takes a free one (default 127.0.0.1:8080); repeated, the address of each machine',
    },
    also: { type: 'string', multiple: true, value: 'HOST:PORT', help: 'where the first machine answers besides; may be repeated' },
    client: {
      type: 'string',
      multiple: true,
      value: 'ADDRESS',
      help: "where a machine's client asks from; once for each, and all answer at --listen",
    },
    'allow-host': {
      type: 'string',
      multiple: true,
      value: 'NAME',
      help: 'a name besides its own by which it may be asked on loopback; may be repeated',
    },
    vms: { type: 'string', value: 'N', help: 'machines of one group, on PORT, PORT+1, … (default 1, or what the scenario says)' },
    name: { type: 'string', value: 'NAME', help: "they are NAME_0, NAME_1, … (default sim); without --vms the one machine's name" },
    gpu: { type: 'boolean', help: 'GPU machines in one fault domain: each sees its own events alone' },
    scenario: { type: 'string', value: 'NAME|FILE', help: 'plays this from the start' },
    list: { type: 'boolean', help: 'names the scenarios and what each is for' },
    speed: { type: 'string', value: 'N', help: 'simulated seconds a second (default 1)' },
    'not-before': { type: 'string', value: 'CLOCK', help: 'the clock that NotBefore is listed by: simulated (default) or wall' },
    strict: {
      type: 'boolean',
      help: 'first answer after 2 min, events after 5, changes up to 1 min late, off after 24 h of silence, 5 requests a second',
    },
    'api-versions': { type: 'string', value: 'LIST', help: 'those that the host knows, separated by commas (default all eight)' },
    'unknown-api-version': { type: 'string', value: '400|404', help: 'the status for one that it does not know (default 400)' },
    replay: { type: 'string', value: 'FILE', help: 'plays a recording from the start' },
    record: { type: 'string', value: 'FILE', help: 'records each distinct document and each post' },
    upstream: { type: 'string', value: 'URL', help: 'with --record: passes all on to this real metadata service and records its answers' },
    anonymise: { type: 'boolean', help: 'with --record: other names and ids in the file' },
  },
  examples: [
    ['scheduled-events-bridge simulate --listen 127.0.0.1:8080', 'an empty metadata service'],
    ['curl -d \'{"EventType":"Reboot"}\' http://127.0.0.1:8080/simulator/events', 'schedule a reboot on it'],
    ['scheduled-events-bridge simulate --listen 127.0.0.1:8080 --scenario live-migration --speed 60', 'a minute of it each second'],
    ['scheduled-events-bridge simulate --listen 127.0.0.1:8080 --vms 3 --name web', 'web_0, web_1 and web_2, on 8080, 8081 and 8082'],
    ['scheduled-events-bridge simulate --record maintenance.ndjson --upstream http://169.254.169.254', 'on a VM: a real one, recorded'],
  ],
  async run(context) {
    if (context.values['list']) return list(context);
    const { logger } = await createLogger({
      stream: context.stderr,
      level: 'info',
      pretty: context.stderr.isTTY,
      wallMs: context.deps.wallMs,
    });
    const wanted = recordingOption(context);
    if (wanted?.upstream !== undefined) {
      const { path, anonymise, upstream } = wanted;
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
    const server = await start(context, wanted, open, logger);
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

/** The simulated service, and a recording of its answers where one is wanted; both end with `open`. */
async function start(
  context: VerbContext,
  wanted: RecordOptions | null,
  open: AsyncDisposableStack,
  logger: Logger,
): Promise<SimulatorServer> {
  const { deps } = context;
  const group = groupOptions(context);
  const played = text(context, 'replay');
  const script = played === undefined ? undefined : await replay(played);
  const recording = wanted && open.use(await startRecording({ ...wanted, startedAtMs: deps.wallMs(), deps, logger }));
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

/** One line for each machine, then nothing until the end. */
async function serve(context: VerbContext, addresses: readonly object[]): Promise<number> {
  for (const address of addresses) await context.print(JSON.stringify(address));
  await interrupted(context);
  return EXIT.fine;
}
