// The limit of a stop → service managers and pages allow more time.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DELIVERIES_MS, STOP_LIMIT_MS } from '../../src/time/stop.ts';
import { runVerb } from '../../src/verbs/run.ts';

const LIMIT_S = STOP_LIMIT_MS / 1000;

function text(path: string): string {
  return readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
}

/** The numbers that `pattern` finds, at least one. */
function numbers(path: string, pattern: RegExp): readonly number[] {
  const found = [...text(path).matchAll(pattern)].map(([, number]) => Number(number));
  assert.notEqual(found.length, 0, `${path} has no ${pattern}`);
  return found;
}

test('the command abandons a stop after the limit of the bridge, and no sooner', () => {
  assert.equal(runVerb.closeLimitMs, STOP_LIMIT_MS);
});

for (const [path, pattern] of [
  ['deploy/systemd/scheduled-events-bridge.service', /^TimeoutStopSec=(\d+)$/gm],
  ['deploy/container/compose.yaml', /^ +stop_grace_period: (\d+)s$/gm],
  ['deploy/helm/scheduled-events-bridge/values.yaml', /^terminationGracePeriodSeconds: (\d+)$/gm],
  ['deploy/windows/service/service.go', /stopLimit += (\d+) \* time\.Second/g],
  ['docs/operate/container.md', /--stop-timeout (\d+)/g],
  ['docs/operate/commands.md', /(?:--stop-timeout |TimeoutStopSec=)(\d+)/g],
  ['docs/operate/windows.md', /after (\d+) s it is killed/g],
] as const)
  test(`${path} allows enough time for the longest stop`, () => {
    for (const seconds of numbers(path, pattern)) assert.ok(seconds > LIMIT_S, `${seconds} s`);
  });

test('Windows gives its service program more time than the service program gives the bridge, and the page has both times', () => {
  const page = 'docs/operate/windows.md';
  const [limit = 0] = numbers('deploy/windows/service/service.go', /stopLimit += (\d+) \* time\.Second/g);
  const [shutdown = 0] = numbers('deploy/windows/service/register.go', /preShutdownMs += (\d+)_000\n/g);
  assert.ok(shutdown > limit);
  assert.deepEqual(numbers(page, /after (\d+) s it is killed/g), [limit]);
  assert.deepEqual(numbers(page, /service program ends it after (\d+) s/g), [limit]);
  assert.deepEqual(numbers(page, /pre-shutdown, (\d+) s/g), [shutdown]);
});

for (const path of [
  'deploy/README.md',
  'deploy/helm/scheduled-events-bridge/values.schema.json',
  'docs/develop/behaviour.md',
  'docs/operate/commands.md',
  'docs/operate/container.md',
  'docs/operate/delivery.md',
  'docs/operate/install.md',
  'docs/operate/kubernetes.md',
  'docs/operate/windows.md',
])
  test(`${path} has the current limit of a stop`, () => {
    assert.match(text(path), new RegExp(`\\b${LIMIT_S} s\\b`));
  });

for (const path of [
  'docs/develop/architecture.md',
  'docs/develop/behaviour.md',
  'docs/operate/commands.md',
  'docs/operate/delivery.md',
])
  test(`${path} has the current time for running deliveries`, () => {
    assert.match(text(path), new RegExp(`\\b${DELIVERIES_MS / 1000} s\\b`.replace('.', '\\.')));
  });
