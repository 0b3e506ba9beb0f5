// A test → a store in a folder of its own, and the rows that tests put into it.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { ApprovalStep } from '../../src/model/approvals.ts';
import type { Instant, JournalEntry, KnownEvent, KnownState } from '../../src/model/events.ts';
import type { OutboxOptions } from '../../src/outbox/open-store.ts';
import { type Outbox, openOutbox } from '../../src/outbox/outbox.ts';
import { scheduledEvent } from '../support/events.ts';
import { VirtualTime } from './virtual-time.ts';

/** A folder that goes with the test. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'outbox-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder of the test's own that other users can reach, as an administrator or a volume makes it. */
export function sharedFolder(t: TestContext, mode = 0o755): string {
  const outer = temporaryFolder(t);
  chmodSync(outer, 0o755);
  const folder = join(outer, 'store');
  mkdirSync(folder);
  chmodSync(folder, mode);
  return folder;
}

export interface TestStore {
  readonly folder: string;
  readonly time: VirtualTime;
  readonly outbox: Outbox;
}

/** An open store with the sinks `audit` and `hooks`, closed behind the test. */
export function testStore(
  t: TestContext,
  options: Partial<OutboxOptions> & { readonly folder?: string } = {},
): TestStore {
  const { folder = join(temporaryFolder(t), 'store'), ...rest } = options;
  const time = new VirtualTime();
  const outbox = openOutbox(folder, { deps: time, lock: true, synchronous: 'OFF', ...rest });
  t.after(() => outbox.close());
  if (rest.lock !== false) outbox.sinks.sync(sinks('audit', 'hooks'));
  return { folder, time, outbox };
}

export function sinks(...names: readonly string[]): { name: string; type: string; fingerprint: string }[] {
  return names.map((name) => ({ name, type: 'webhook', fingerprint: 'one' }));
}

/** What each reopening sees: moments without elapsed time. */
export function at(wallMs: number): Instant {
  return { wallMs, elapsedMs: null };
}

export function knownEvent(key: string, occurrence: number, overrides: Partial<KnownEvent> = {}): KnownEvent {
  return {
    key,
    occurrence,
    event: scheduledEvent({ eventId: key.toUpperCase() }),
    apiVersion: '2020-07-01',
    epoch: 1,
    listed: true,
    lastListedAt: null,
    missing: null,
    ...overrides,
  };
}

export function knownState(events: readonly KnownEvent[], overrides: Partial<KnownState> = {}): KnownState {
  return {
    incarnation: 1,
    apiVersion: '2020-07-01',
    lastGoodAt: at(1_000_000),
    epoch: { number: 1, startedAt: at(900_000), rowStartedAt: at(700_000) },
    emptyRow: null,
    events: new Map(events.map((event) => [event.key, event])),
    nextOccurrence: Math.max(0, ...events.map(({ occurrence }) => occurrence)) + 1,
    ...overrides,
  };
}

/** A line of the record of approvals that nobody in particular wrote. */
export function approvalStep(step: ApprovalStep['step'], overrides: Partial<ApprovalStep> = {}): ApprovalStep {
  return { step, atMs: 1_000_000, approver: null, via: null, policy: null, status: null, reason: null, ...overrides };
}

/** A journal entry of `key`; its bytes are a CloudEvent as the journal keeps it. */
export function entry(id: string, overrides: Partial<JournalEntry> & { readonly data?: object } = {}): JournalEntry {
  const { data, ...rest } = overrides;
  const key = rest.key === undefined ? (id.split(':')[0] ?? id) : rest.key;
  const change = rest.change ?? 'scheduled';
  const event = scheduledEvent({ eventId: (key ?? '').toUpperCase() });
  const type = `io.github.scheduled-events-bridge.${change}.v1`;
  return {
    id,
    change,
    key,
    occurrence: 1,
    partitionKey: key ?? 'observer',
    timeMs: 1_000_000,
    bytes: new TextEncoder().encode(
      JSON.stringify({ specversion: '1.0', id, type, data: data ?? { ...event, previousStatus: null } }),
    ),
    ...rest,
  };
}

/** Journals these and queues them for the sinks, in one transaction. */
export function append(store: TestStore, entries: readonly JournalEntry[], to: readonly string[] = ['audit']): void {
  store.outbox.transact((transaction) => {
    for (const one of entries) transaction.append(one, to, store.time.wallMs());
  });
}

/** The ids that are queued for a sink, in queue order. */
export function queuedIds(outbox: Outbox, sink = 'audit', except: readonly string[] = []): string[] {
  return outbox.queue.queued(sink, except, 1000).map(({ id }) => id);
}

/** Gives up what is queued for a sink. */
export function bury(outbox: Outbox, sink = 'audit', atMs = 2_000_000): void {
  const settlements = outbox.queue
    .queued(sink, [], 1000)
    .map(({ seq }) => ({ seq, result: 'dead', reason: 'refused', status: 400 }) as const);
  outbox.queue.settle(sink, settlements, atMs);
}
