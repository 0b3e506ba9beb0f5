// A bridge with two approvers and a sink that is told all → its drills, as tests ask for them.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { DrillReport } from '../../src/drills/report.ts';
import { SECOND, type Settings, VirtualBridge } from './virtual-bridge.ts';

const ORDERS = { token: { env: 'ORDERS_TOKEN' }, admin: true };
const BILLING = { token: { env: 'BILLING_TOKEN' } };
const ALL = ['scheduled', 'updated', 'started', 'ended', 'approval.recorded', 'approval.submitted', 'approval.failed'];

export function settings(approvals: object = {}, sinks: object = {}): Settings {
  return {
    approvals: { approvers: { orders: ORDERS, billing: BILLING }, ...approvals },
    sinks: { audit: { type: 'memory', filter: { changes: ALL } }, ...sinks },
  };
}

export async function running(t: TestContext, given = settings()): Promise<VirtualBridge> {
  const bridge = new VirtualBridge(t, given);
  await bridge.startFor(2 * SECOND);
  return bridge;
}

export async function begin(bridge: VirtualBridge, body: object = {}): Promise<string> {
  const answer = await bridge.request('POST', '/v1/drills', { as: 'orders', body });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return (answer.body as { id: string }).id;
}

export async function reportOf(bridge: VirtualBridge, id: string): Promise<DrillReport> {
  return (await bridge.request('GET', `/v1/drills/${id}`, { as: 'billing' })).body as DrillReport;
}

export function approve(bridge: VirtualBridge, id: string, as: 'orders' | 'billing' = 'orders') {
  return bridge.request('POST', '/v1/approvals', { as, body: { StartRequests: [{ EventId: `drill-${id}` }] } });
}

export function changesOf({ changes }: DrillReport): readonly string[] {
  return changes.map(({ change }) => change);
}

export function posts(bridge: VirtualBridge): number {
  return bridge.simulation.simulator.group.journal.requests().filter(({ method }) => method === 'POST').length;
}
