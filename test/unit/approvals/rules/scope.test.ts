// A scope and an event → whether the approver is touched by it and may approve it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { compileScope } from '../../../../src/approvals/rules/scope.ts';

test('no scope touches and allows everything, also an event that names nobody', () => {
  const scope = compileScope({});
  assert.ok(scope.touches({ eventType: 'Freeze', resources: [] }));
  assert.ok(scope.allows({ eventType: 'Freeze', resources: [] }));
});

test('impacts are compared without case', () => {
  const scope = compileScope({ impacts: ['Freeze'] });
  assert.ok(scope.allows({ eventType: 'FREEZE', resources: [] }));
  assert.ok(!scope.allows({ eventType: 'Reboot', resources: [] }));
  assert.ok(!scope.touches({ eventType: 'Reboot', resources: [] }));
});

test('a scope by names touches an event by any of its names, and allows it by all of them', () => {
  const scope = compileScope({ resources: ['web_*', 'db_0'] });
  assert.ok(scope.touches({ eventType: 'Freeze', resources: ['WEB_1', 'cache_0'] }));
  assert.ok(!scope.allows({ eventType: 'Freeze', resources: ['WEB_1', 'cache_0'] }));
  assert.ok(scope.allows({ eventType: 'Freeze', resources: ['WEB_1', 'DB_0'] }));
});

test('a scope by names neither touches nor allows an event that names nobody', () => {
  const scope = compileScope({ resources: ['*'] });
  assert.ok(!scope.touches({ eventType: 'Freeze', resources: [] }));
  assert.ok(!scope.allows({ eventType: 'Freeze', resources: [] }));
});
