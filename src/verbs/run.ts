// `run`: a configuration → a running bridge, until it is stopped or has ended.
import type { Logger } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import type { Bridge } from '../bridge/bridge-options.ts';
import { startBridge } from '../bridge.ts';
import type { Config } from '../config/config.ts';
import { logWarnings } from '../config/warnings.ts';
import { isAbort, messageOf } from '../errors.ts';
import { visibleLine } from '../formats/visible-text.ts';
import { Notifier } from '../service/notifier.ts';
import { ServiceManager } from '../service/service-manager.ts';
import { createLogger } from '../telemetry/logger.ts';
import { LOG_LEVELS, type LogLevel } from '../telemetry/options.ts';
import { sleep } from '../time/clock.ts';
import { STOP_LIMIT_MS } from '../time/stop.ts';
import { loadValidConfig, readAgain } from './config.ts';
import { CONTROL_OPTION, EXIT, interrupted, optionText, usageError, type Verb, type VerbContext } from './verb.ts';

/** How long a stop waits for systemd to read that the bridge is stopping. */
const NOTIFY_MS = 5000;
/** In UTF-16 units: what `systemctl status` shows of a failed start. */
const STATUS_LENGTH = 1000;

export const runVerb: Verb = {
  usage: '[--config FILE] [--log-level LEVEL] [--control-stdin]',
  description: `Without --config and SCHEDULED_EVENTS_BRIDGE_CONFIG, it polls the metadata service of this VM and prints one CloudEvent a line to standard output.
On SIGHUP it reads and checks the whole file again, then applies the changes (docs/operate/reload.md).
On SIGTERM or SIGINT it stops polling, lets running deliveries end and exits with 0 after at most 10 s, or 16 s with command sinks, because it ends their programs. Remaining deliveries go out after the next start.`,
  options: {
    config: { type: 'string', value: 'FILE', help: 'the configuration (docs/operate/configuration.md)' },
    'log-level': {
      type: 'string',
      value: 'LEVEL',
      help: `${LOG_LEVELS.join(', ')} (default log.level of the configuration)`,
    },
    [CONTROL_OPTION]: {
      type: 'boolean',
      help: 'for service managers without signals: reads `stop` or `reload` from standard input; its end stops too',
    },
  },
  closeLimitMs: STOP_LIMIT_MS,
  examples: [
    ['scheduled-events-bridge run', 'print the events of this VM'],
    ['scheduled-events-bridge run --config /etc/scheduled-events-bridge/bridge.yaml', 'as a service'],
  ],
  async run(context) {
    const starting = start(context);
    // A start can be abandoned at any moment, because its writes are atomic: a name server may take long to resolve
    // http.listen.
    const started = await Promise.race([starting, interrupted(context)]).catch(async (error: unknown) => {
      await notifyFailure(context, error);
      throw error;
    });
    if (!started) return EXIT.fine;
    const { bridge, logger, manager } = started;
    const reload = () => bridge.reload(context.values[CONTROL_OPTION] ? 'standard input' : 'SIGHUP');
    // The bridge has already logged a rejected reload or a failed store.
    context.onHangup(() => void (manager ? manager.reloading(reload) : reload().catch(() => {})));
    await Promise.race([bridge.ended, interrupted(context)]);
    logger.info('ending');
    await Promise.all([
      Promise.race([manager?.stopping(), sleep(context.deps, NOTIFY_MS)]),
      bridge[Symbol.asyncDispose](),
    ]);
    return EXIT.fine;
  },
};

interface Started {
  readonly bridge: Bridge;
  readonly logger: Logger;
  /** Null without a service manager that wants notifications. */
  readonly manager: ServiceManager | null;
}

async function start(context: VerbContext): Promise<Started> {
  const levelGiven = levelOption(context);
  const path = optionText(context, 'config');
  const { options: config, warnings, written } = await loadValidConfig(context, path);
  const { deps, stderr, stdout } = context;
  const level = levelGiven ?? config.log.level;
  const { logger, dropped, setLevel } = await createLogger({
    stream: stderr,
    level,
    pretty: stderr.isTTY,
    wallMs: deps.wallMs,
  });
  logWarnings(logger.child({ area: 'config' }), warnings);
  const onApplied = ({ log }: Config) => setLevel(levelGiven ?? log.level);
  const file = path === undefined ? null : { written, read: () => readAgain(context, path), onApplied };
  const manager = serviceManager(context, config, logger);
  const bridge = await startBridge({
    ...{ config, file, version: packageJson.version, deps, logger, logLinesDropped: dropped, stdout },
    ...(manager && { watch: manager }),
  });
  manager?.describe(() => bridge.status.words);
  return { bridge, logger, manager };
}

/** Returns systemd's manager; null unless the unit has `Type=notify`. */
function serviceManager({ env, deps }: VerbContext, config: Config, logger: Logger): ServiceManager | null {
  if (!env['NOTIFY_SOCKET']) return null;
  const notifier = new Notifier({ env, logger: logger.child({ area: 'service' }) });
  return new ServiceManager({ env, pid: process.pid, notifier, limits: config.metadata, deps });
}

/** Shows why the bridge does not start in `systemctl status`. */
async function notifyFailure({ env }: VerbContext, error: unknown): Promise<void> {
  if (!env['NOTIFY_SOCKET'] || isAbort(error)) return;
  const notifier = new Notifier({ env, logger: { warn: () => {} } });
  await notifier.send([`STATUS=not started: ${visibleLine(messageOf(error)).slice(0, STATUS_LENGTH)}`]);
}

function levelOption(context: VerbContext): LogLevel | null {
  const level = optionText(context, 'log-level');
  if (level === undefined) return null;
  const known = LOG_LEVELS.find((name) => name === level);
  if (known === undefined) throw usageError(`--log-level takes one of ${LOG_LEVELS.join(', ')}, not "${level}"`);
  return known;
}
