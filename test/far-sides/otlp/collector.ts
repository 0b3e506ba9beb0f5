// The OpenTelemetry Collector → accepts exports, and forwards them as JSON to the test's server.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { poll } from '../../support/poll.ts';

/** The version that `build-collector` builds. */
const VERSION = '0.162.0';
const CACHES = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');

export const COLLECTOR =
  process.env['OTELCOL'] ?? join(CACHES, 'scheduled-events-bridge', `otelcol-${VERSION}`, 'otelcol');

/** For the `skip` of a test: false, or the reason. Throws instead if REQUIRE_COLLECTOR is set. */
export const withoutCollector: string | false = absence();

function absence(): string | false {
  if (existsSync(COLLECTOR)) return false;
  if (process.env['REQUIRE_COLLECTOR']) throw new Error(`REQUIRE_COLLECTOR is set, and there is no ${COLLECTOR}`);
  return 'there is no OpenTelemetry Collector: run test/far-sides/otlp/build-collector, or name one in OTELCOL';
}

/**
 * Starts a Collector that answers only after `forwardTo` has accepted the records.
 * @returns the origin of its receiver
 */
export async function startCollector(t: TestContext, forwardTo: string): Promise<string> {
  const endpoint = `127.0.0.1:${await freePort()}`;
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint } } } },
    exporters: {
      otlp_http: {
        logs_endpoint: forwardTo,
        encoding: 'json',
        compression: 'none',
        sending_queue: { enabled: false },
        retry_on_failure: { enabled: false },
      },
    },
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: { logs: { receivers: ['otlp'], exporters: ['otlp_http'] } },
    },
  };
  const collector = spawn(COLLECTOR, ['--config', `yaml:${JSON.stringify(config)}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => end(collector));
  let said = '';
  collector.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await poll(
    () => said.includes('Everything is ready'),
    () => `the Collector; ${said}`,
  );
  return `http://${endpoint}`;
}

async function end(collector: ChildProcess): Promise<void> {
  if (collector.exitCode !== null || collector.signalCode !== null) return;
  const ended = once(collector, 'exit');
  collector.kill('SIGTERM');
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
