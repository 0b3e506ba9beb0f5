// Kinds of sink, run --config FILE → the bridge from its sources in this process, until SIGTERM.
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AdapterDefinition } from '../../adapters/adapter.ts';
import { startBridge } from '../../src/bridge.ts';
import { configError } from '../../src/config/check-config.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { systemDeps } from '../../src/time/system.ts';

export async function runBridge(adapters: readonly AdapterDefinition<unknown>[]): Promise<void> {
  const [, , path = ''] = process.argv.slice(2);
  const read = () =>
    readConfig(readFileSync(path, 'utf8'), {
      adapters,
      env: process.env,
      directory: dirname(path),
      readFile: (secret) => readFileSync(secret, 'utf8'),
    });
  const checked = read();
  if ('faults' in checked) throw configError(checked.faults);
  const deps = systemDeps();
  const { logger, dropped } = await createLogger({
    stream: process.stderr,
    level: 'info',
    pretty: false,
    wallMs: deps.wallMs,
  });
  const { stdout } = process;
  const file = { written: checked.written, read: async () => read() };
  const bridge = await startBridge({
    config: checked.options,
    file,
    version: 'bench',
    deps,
    logger,
    logLinesDropped: dropped,
    stdout,
  });
  process.on('SIGHUP', () => void bridge.reload('SIGHUP'));
  process.on('SIGTERM', () => void bridge[Symbol.asyncDispose]().then(() => process.exit(0)));
}
