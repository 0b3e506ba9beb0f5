// A configuration → for which approvers its sinks and sources may act, and for which events.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ADAPTERS } from '../../../adapters/index.ts';
import { isAuthorized } from '../../../src/bridge/approving-sinks.ts';
import { checkConfig, configError } from '../../../src/config/check-config.ts';
import { scheduledEvent } from '../../support/events.ts';

const OWN = scheduledEvent({ resources: ['WestNO_0'] });
const OTHER = scheduledEvent({ resources: ['elsewhere_1'] });
const DRILL = scheduledEvent({ eventId: 'drill-00000000-0000-4000-8000-000000000001', resources: ['WestNO_0'] });

const POD = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: '1' };
const ENV = { ORDERS: 'orders-token-0001', NODE: 'node-token-000001', ...POD };

function configOf(sinks: object, sources: object = {}) {
  const checked = checkConfig(
    {
      version: 1,
      approvals: { approvers: { orders: { token: { env: 'ORDERS' } }, node: { token: { env: 'NODE' } } }, sources },
      sinks: { audit: { type: 'stdout' }, ...sinks },
    },
    { adapters: ADAPTERS, env: ENV, directory: '/', readFile: () => '' },
  );
  if ('faults' in checked) throw configError(checked.faults);
  return checked.options;
}

const COMMAND = { type: 'command', run: ['/bin/true'], approve: 'orders' };
const KUBERNETES = { type: 'kubernetes', node: 'westno-0', prepare: ['drain'], approve: 'node' };

test('a command sink may act for its approver on every event, and for no other approver', () => {
  const config = configOf({ drain: COMMAND });
  for (const event of [OWN, OTHER, DRILL, null]) {
    assert.equal(isAuthorized(config, { via: 'sink:drain', approver: 'orders' }, event, 'WestNO_0'), true);
    assert.equal(isAuthorized(config, { via: 'sink:drain', approver: 'node' }, event, 'WestNO_0'), false);
  }
});

test('a kubernetes sink acts only on events of its own node, and with drills: false on no drill', () => {
  const origin = { via: 'sink:drain', approver: 'node' };
  const all = configOf({ drain: KUBERNETES });
  assert.deepEqual(
    [OWN, OTHER, DRILL].map((event) => isAuthorized(all, origin, event, 'WestNO_0')),
    [true, false, true],
  );
  assert.equal(isAuthorized(configOf({ drain: { ...KUBERNETES, drills: false } }), origin, DRILL, 'WestNO_0'), false);
});

test('a sink that was removed, has no approve, or is of a type that cannot approve acts for no approver', () => {
  const origin = { via: 'sink:drain', approver: 'orders' };
  const { approve: _, ...silent } = COMMAND;
  for (const sinks of [{}, { drain: silent }, { drain: { type: 'file', path: '/var/log/events' } }])
    assert.equal(isAuthorized(configOf(sinks), origin, OWN, 'WestNO_0'), false, JSON.stringify(sinks));
});

test('a source may act for the approver that it names, as long as it is configured', () => {
  const source = { type: 'kafka', brokers: ['localhost:9092'], topic: 'approvals', approver: 'orders' };
  const config = configOf({}, { topic: source });
  const mayAct = (via: string, approver: string) => isAuthorized(config, { via, approver }, null, null);
  assert.deepEqual(
    [
      mayAct('source:topic', 'orders'),
      mayAct('source:topic', 'node'),
      mayAct('source:other', 'orders'),
      mayAct('token', 'orders'),
    ],
    [true, false, false, false],
  );
});
