// `simulate`: the metadata service on a port of this machine, until it is told to end.
import { BridgeError } from '../errors.ts';
import { listScenarios } from '../simulator/scenarios.ts';
import { startSimulator } from '../simulator/server.ts';
import { createLogger } from '../telemetry/logger.ts';
import { EXIT, interrupted, text, type Verb, type VerbContext } from './verb.ts';

/** As of `PUT /simulator/clock`. */
const FASTEST = 1_000_000;

export const simulate: Verb = {
  usage: '--listen HOST:PORT [--scenario NAME] [--speed N] | --list',
  description: `Answers as the Azure metadata service does, and takes orders on /simulator: docs/simulator.md shows each route with curl.
Without --scenario it starts empty. Ends at SIGTERM or SIGINT.`,
  options: {
    listen: { type: 'string', value: 'HOST:PORT', help: 'where to listen; port 0 takes a free one (default 127.0.0.1:8080)' },
    name: { type: 'string', value: 'NAME', help: "the VM's name (default sim_0)" },
    scenario: { type: 'string', value: 'NAME', help: 'plays this from the start' },
    speed: { type: 'string', value: 'N', help: 'simulated seconds a second (default 1)' },
    list: { type: 'boolean', help: 'names the scenarios and what each is for' },
  },
  examples: [
    ['scheduled-events-bridge simulate --listen 127.0.0.1:8080', 'an empty metadata service'],
    ['curl -d \'{"EventType":"Reboot"}\' http://127.0.0.1:8080/simulator/events', 'schedule a reboot on it'],
    ['scheduled-events-bridge simulate --listen 127.0.0.1:8080 --scenario demo --speed 60', 'a live migration, a minute of it each second'],
  ],
  async run(context) {
    if (context.values['list']) {
      for (const { name, purpose } of listScenarios()) await context.print(`${name.padEnd(16)}${purpose}`);
      return EXIT.fine;
    }
    const scenario = text(context, 'scenario');
    const { logger } = await createLogger({
      stream: context.stderr,
      level: 'info',
      pretty: context.stderr.isTTY,
      wallMs: context.deps.wallMs,
    });
    await using simulator = await startSimulator({
      listen: listenOption(text(context, 'listen') ?? '127.0.0.1:8080'),
      vmName: text(context, 'name') ?? 'sim_0',
      speed: speedOption(context),
      ...(scenario === undefined ? {} : { scenario }),
      deps: context.deps,
      logger,
    });
    await context.print(JSON.stringify({ endpoint: simulator.url }));
    await interrupted(context);
    return EXIT.fine;
  },
};

function listenOption(value: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:]+)):(\d{1,5})$/.exec(value);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new BridgeError('BRIDGE_USAGE', `--listen takes HOST:PORT, such as 127.0.0.1:8080, not "${value}"`);
  return { host: (match[1] ?? match[2]) as string, port };
}

function speedOption(context: VerbContext): number {
  const given = text(context, 'speed') ?? '1';
  const speed = Number(given);
  if (!/^\d+(\.\d+)?$/.test(given) || speed <= 0 || speed > FASTEST) {
    throw new BridgeError('BRIDGE_USAGE', `--speed takes a number above 0 and up to ${FASTEST}, not "${given}"`);
  }
  return speed;
}
