// Error codes of Windows → what the lane does, and what the operator reads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startFault, windowsFault } from '../../../../adapters/windows-event-log/event-log-fault.ts';

const target = { sink: 'log', source: 'AzureScheduledEvents' };

test('each error code of Windows has its disposition', () => {
  const cases: [code: number, errorCode: string, disposition: string, scope: string][] = [
    [2, 'BRIDGE_EVENT_LOG_MISCONFIGURED', 'misconfigured', 'sink'],
    [5, 'BRIDGE_EVENT_LOG_MISCONFIGURED', 'misconfigured', 'sink'],
    [1314, 'BRIDGE_EVENT_LOG_MISCONFIGURED', 'misconfigured', 'sink'],
    [112, 'BRIDGE_EVENT_LOG_FAILED', 'retry', 'sink'],
    [1502, 'BRIDGE_EVENT_LOG_FAILED', 'retry', 'sink'],
    [1722, 'BRIDGE_EVENT_LOG_FAILED', 'retry', 'sink'],
    [87, 'BRIDGE_EVENT_LOG_REFUSED', 'refused', 'delivery'],
    [1783, 'BRIDGE_EVENT_LOG_REFUSED', 'refused', 'delivery'],
  ];
  for (const [code, ...expected] of cases) {
    const fault = windowsFault({ code, message: 'the text of Windows' }, target);
    assert.deepEqual([fault.code, fault.disposition, fault.scope], expected, String(code));
    assert.equal(fault.status, code);
    assert.match(fault.message, new RegExp(`^sink log: .*AzureScheduledEvents.*\\(${code}: the text of Windows\\)$`));
  }
});

test('a source that is not registered: the message has the command that registers it', () => {
  assert.match(
    windowsFault({ code: 2, message: '' }, target).message,
    /as an administrator, run scheduled-events-bridge-service\.exe register-source "AzureScheduledEvents"/,
  );
});

test('a helper that is missing or may not run is misconfigured, and any other failure to start is retried', () => {
  const fault = (code: string) => startFault(Object.assign(new Error(code), { code }), 'helper.exe', target);
  assert.deepEqual(
    ['ENOENT', 'EACCES', 'EPERM', 'EMFILE'].map((code) => fault(code).disposition),
    ['misconfigured', 'misconfigured', 'misconfigured', 'retry'],
  );
  assert.match(fault('ENOENT').message, /cannot start helper\.exe \(ENOENT\): install the \.zip for Windows/);
});
