// Configurations of syslog sinks → their defaults, or the faults that `check` reports.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { syslogOptions } from '../../../../adapters/syslog/syslog-options.ts';

const SERVER = 'tcp://logs.example.com:601';

function faults(options: Readonly<Record<string, unknown>>): readonly string[] {
  const { issues = [] } = v.safeParse(syslogOptions, options);
  return issues.map((issue) => `${v.getDotPath(issue) ?? ''}: ${issue.message}`);
}

test('only server is required, and the rest has defaults', () => {
  const { server, ...rest } = v.parse(syslogOptions, { server: SERVER });
  assert.equal(server.text, SERVER);
  assert.deepEqual(rest, {
    format: 'json',
    facility: 'daemon',
    legacy: false,
    enterprise: 32_473,
    framing: 'counted',
    maxBytes: 64 * 1024,
    settle: 1000,
    timeout: 10_000,
    maxBatch: 500,
    maxBatchBytes: 1024 ** 2,
  });
  assert.equal(v.parse(syslogOptions, { server: 'udp://logs.example.com:514' }).maxBytes, 8 * 1024);
  assert.equal(v.parse(syslogOptions, { server: SERVER, settle: '0s' }).settle, 0);
});

test('a fault names its key and the allowed values', () => {
  assert.match(faults({})[0] ?? '', /^server: /);
  assert.match(faults({ server: 'logs' })[0] ?? '', /^server: must be tls:/);
  assert.match(faults({ server: SERVER, facility: 'log' })[0] ?? '', /^facility: .*"daemon"/);
  assert.match(faults({ server: SERVER, format: 'xml' })[0] ?? '', /^format: .*"json"/);
  assert.match(faults({ server: SERVER, maxBytes: '100B' })[0] ?? '', /^maxBytes: must be from 480B to 16MiB/);
  assert.match(faults({ server: SERVER, settle: '31s' })[0] ?? '', /^settle: must be between 0s and 30s/);
  assert.match(
    faults({ server: SERVER, enterprise: 0 })[0] ?? '',
    /^enterprise: must be a whole number from 1 to 4294967295/,
  );
  assert.match(faults({ server: SERVER, colour: 'red' })[0] ?? '', /^colour: /);
});

test('keys that do not apply to the transport are faults', () => {
  assert.deepEqual(faults({ server: SERVER, tls: { ca: '/ca.pem' } }), [
    'tls: only applies to a tls:// server: remove it',
  ]);
  assert.deepEqual(faults({ server: 'udp://logs:514', maxBytes: '64KiB' }), [
    'maxBytes: must be at most 65507B over udp',
  ]);
  assert.deepEqual(faults({ server: 'udp://logs:514', maxBytes: '65507B' }), []);
});
