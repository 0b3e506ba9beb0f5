// run --config FILE → the bridge, its webhook sinks with one delivery in flight, which no configuration asks for.
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Adapter, AdapterDefinition } from '../../adapters/adapter.ts';
import { webhook } from '../../adapters/webhook/webhook.ts';
import type { WebhookOptions } from '../../adapters/webhook/webhook-options.ts';
import { startBridge } from '../../src/bridge.ts';
import { configError } from '../../src/config/config-error.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { systemDeps } from '../../src/system.ts';
import { createLogger } from '../../src/telemetry/logger.ts';

const [, , file = ''] = process.argv.slice(2);
const single: AdapterDefinition<WebhookOptions> = {
  ...webhook,
  create: (options, deps) => oneAtATime(webhook.create(options, deps)),
};

const checked = readConfig(readFileSync(file, 'utf8'), {
  adapters: [single],
  env: process.env,
  directory: dirname(file),
  readFile: (path) => readFileSync(path, 'utf8'),
});
if ('faults' in checked) throw configError(checked.faults);
const deps = systemDeps();
const { logger, dropped } = await createLogger({ stream: process.stderr, level: 'info', pretty: false, wallMs: deps.wallMs });
const { stdout } = process;
const bridge = await startBridge({ config: checked.options, version: 'bench', deps, logger, logLinesDropped: dropped, stdout });
process.on('SIGTERM', () => void bridge[Symbol.asyncDispose]().then(() => process.exit(0)));

function oneAtATime(adapter: Adapter): Adapter {
  return {
    get limits() {
      return { ...adapter.limits, inFlight: 1 };
    },
    check: (signal) => adapter.check(signal),
    deliver: (batch, signal) => adapter.deliver(batch, signal),
    [Symbol.asyncDispose]: () => adapter[Symbol.asyncDispose](),
  };
}
