// A bridge in virtual time, simulator and approvers → what was posted, heard and recorded.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { MetadataTransport } from '../../src/metadata/transport.ts';
import { sleep } from '../../src/time/clock.ts';
import { type Reply, SECOND, VirtualBridge } from './virtual-bridge.ts';

/** What `PUT /simulator/faults` takes. */
export type Fault = Readonly<Record<string, unknown>>;

const BOTH = { orders: { token: { env: 'ORDERS_TOKEN' } }, billing: { token: { env: 'BILLING_TOKEN' } } };
export const ANY = { approvers: BOTH };
export const ALL = { approvers: BOTH, required: 'all' };

/** The event may stay Scheduled after its approval. */
export const SHARED = { otherTenants: '30m' };

/** A bridge that has read one Scheduled event. */
export async function watching(
  t: TestContext,
  approvals: object,
  metadata: object = {},
  fields: object = {},
  fault: Fault = {},
) {
  const bridge = new VirtualBridge(t, { approvals, metadata });
  const { EventId: eventId } = bridge.simulation.schedule(fields);
  order(bridge, fault);
  await bridge.startFor(2 * SECOND);
  return { bridge, eventId };
}

/** Of POSTs alone, until it is cleared where it says nothing of times. */
export function order(bridge: VirtualBridge, fault: Fault): void {
  const isNone = Object.keys(fault).length === 0;
  bridge.simulation.order('PUT', '/faults', isNone ? {} : { method: 'POST', times: 1_000_000, ...fault }, 204);
}

export function approve(bridge: VirtualBridge, as: 'orders' | 'billing', EventId: string): Promise<Reply> {
  return bridge.request('POST', '/v1/approvals', { as, body: { StartRequests: [{ EventId }] }, patienceMs: 20 });
}

/** Its status, and the state or the type of the problem. */
export function heard({ status, body }: Reply): readonly [number, string | undefined] {
  const { results, type } = body as { results?: { state: string }[]; type?: string };
  return [status, results?.[0]?.state ?? type?.split('#').at(-1)?.split('/').at(-1)];
}

function requests(bridge: VirtualBridge) {
  return bridge.simulation.simulator.group.journal.requests().filter(({ method }) => method === 'POST');
}

/** When StartRequests came, in milliseconds. */
export function posts(bridge: VirtualBridge): readonly number[] {
  return requests(bridge).map(({ at }) => Date.parse(at));
}

/** What they were answered; null for a reset. */
export function statuses(bridge: VirtualBridge): readonly (number | null)[] {
  return requests(bridge).map(({ status }) => status);
}

/** Runs it while the first StartRequest from now on is being answered. */
export function atPost(bridge: VirtualBridge, run: () => void): void {
  const before = posts(bridge).length;
  let isRun = false;
  bridge.simulation.simulator.group.journal.onSettled(() => {
    if (isRun || posts(bridge).length === before) return;
    isRun = true;
    run();
  });
}

export interface EventRecord {
  readonly state: string;
  readonly approvedBy: readonly string[];
  readonly notStartedForSeconds: number | null;
  readonly steps: readonly { readonly step: string; readonly status: number | string | null }[];
}

export async function life(bridge: VirtualBridge, eventId: string): Promise<EventRecord> {
  const { status, body } = await bridge.request('GET', `/v1/approvals/${eventId}`);
  assert.equal(status, 200);
  return body as EventRecord;
}

export async function record(
  bridge: VirtualBridge,
  eventId: string,
): Promise<readonly (readonly [string, number | string | null])[]> {
  return (await life(bridge, eventId)).steps.map(({ step, status }) => [step, status] as const);
}

/** Answers to StartRequests arrive so much later; they had their effect at once. */
export function slowAnswers(service: MetadataTransport, bridge: VirtualBridge, delayMs: number): MetadataTransport {
  return async (request, signal) => {
    const answer = await service(request, signal);
    if (request.method === 'POST') await sleep(bridge.time, delayMs, signal);
    return answer;
  };
}
