// `run`: a configuration → the bridge at work, until it is stopped or has nothing to do.
import type { Logger } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import type { Bridge } from '../bridge/bridge-options.ts';
import { startBridge } from '../bridge.ts';
import type { Config } from '../config/config.ts';
import { BridgeError } from '../errors.ts';

import { Notifier } from '../service/notifier.ts';
import { ServiceManager } from '../service/service-manager.ts';
import { createLogger } from '../telemetry/logger.ts';
import { LOG_LEVELS, type LogLevel } from '../telemetry/options.ts';

import { sleep } from '../time/clock.ts';
import { STOP_LIMIT_MS } from '../time/stop.ts';
import { loadValidConfig, readAgain } from './config.ts';
import { CONTROL_OPTION, EXIT, interrupted, text, type Verb, type VerbContext } from './verb.ts';

/** How long a stop waits until systemd has read that the bridge is stopping. */
const NOTIFY_MS = 5000;

export const run: Verb = {
  usage: '[--config FILE] [--log-level LEVEL] [--control-stdin]',
  description: `Without --config, and without SCHEDULED_EVENTS_BRIDGE_CONFIG in the environment: from the metadata service of this VM to standard output, one CloudEvent a line.
At SIGHUP it reads the file again and checks all of it; what differs holds from then on (docs/operate/reload.md).
Ends at SIGTERM or SIGINT: polling stops, running deliveries end, and it exits with 0, after 10 s at most; after 16 s at most with command sinks, whose programs are ended. What was not delivered goes out after the next start.`,
  options: {
    config: { type: 'string', value: 'FILE', help: 'the configuration (docs/operate/configuration.md)' },
    'log-level': { type: 'string', value: 'LEVEL', help: `${LOG_LEVELS.join(', ')} (default log.level of the configuration)` },
    [CONTROL_OPTION]: {
      type: 'boolean',
      help: 'for service managers without signals: `stop` or `reload` on a line of standard input; its end stops too',
    },
  },
  closeLimitMs: STOP_LIMIT_MS,
  examples: [
    ['scheduled-events-bridge run', "this VM's events, on standard output"],
    ['scheduled-events-bridge run --config /etc/scheduled-events-bridge/bridge.yaml', 'as a service'],
  ],
  async run(context) {
    const starting = start(context);
    // What a start has written is whole at every moment, so that it can be left where it is: a name server may take its time over http.listen.
    const started = await Promise.race([starting, interrupted(context)]);
    if (!started) return EXIT.fine;
    const { bridge, logger, manager } = started;
    const reload = () => bridge.reload(context.values[CONTROL_OPTION] ? 'standard input' : 'SIGHUP');
    // A refusal is in the log already, and so is a store that fails.
    context.onHangup(() => void (manager ? manager.reloading(reload) : reload().catch(() => {})));
    await Promise.race([bridge.ended, interrupted(context)]);
    logger.info('ending');
    await Promise.all([Promise.race([manager?.stopping(), sleep(context.deps, NOTIFY_MS)]), bridge[Symbol.asyncDispose]()]);
    return EXIT.fine;
  },
};

interface Started {
  readonly bridge: Bridge;
  readonly logger: Logger;
  /** Null where nobody wants to be told. */
  readonly manager: ServiceManager | null;
}

async function start(context: VerbContext): Promise<Started> {
  const asked = levelOption(context);
  const path = text(context, 'config');
  const { options: config, warnings, written } = await loadValidConfig(context, path);
  const { deps, stderr, stdout } = context;
  const level = asked ?? config.log.level;
  const { logger, dropped, setLevel } = await createLogger({ stream: stderr, level, pretty: stderr.isTTY, wallMs: deps.wallMs });
  for (const { path, message, isGrave } of warnings) if (isGrave) logger.warn({ area: 'config', path }, message);
  const onApplied = ({ log }: Config) => setLevel(asked ?? log.level);
  const file = path === undefined ? null : { written, read: () => readAgain(context, path), onApplied };
  const manager = serviceManager(context, config, logger);
  const bridge = await startBridge({
    ...{ config, file, version: packageJson.version, deps, logger, logLinesDropped: dropped, stdout },
    ...(manager && { watch: manager }),
  });
  manager?.describe(() => bridge.status.words);
  return { bridge, logger, manager };
}

/** systemd, where the unit is of `Type=notify`. */
function serviceManager({ env, deps }: VerbContext, config: Config, logger: Logger): ServiceManager | null {
  if (!env['NOTIFY_SOCKET']) return null;
  const notifier = new Notifier({ env, logger: logger.child({ area: 'service' }) });
  return new ServiceManager({ env, pid: process.pid, notifier, limits: config.metadata, deps });
}

function levelOption(context: VerbContext): LogLevel | null {
  const level = text(context, 'log-level');
  if (level === undefined) return null;
  const known = LOG_LEVELS.find((name) => name === level);
  if (known === undefined) throw new BridgeError('BRIDGE_USAGE', `--log-level takes one of ${LOG_LEVELS.join(', ')}, not "${level}"`);
  return known;
}
