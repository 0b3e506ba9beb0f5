// A configuration, a store, a model → one process of the bridge, and ways to speak to it.
import { pino } from 'pino';
import { Approvals } from '../../../src/approvals/approvals.ts';
import type { ApprovalPorts } from '../../../src/approvals/ports.ts';
import type { ApprovalStore } from '../../../src/approvals/store.ts';
import { BridgeError } from '../../../src/errors.ts';
import type { ApprovalOrigin, PostResult } from '../../../src/model/approvals.ts';
import type { Deps } from '../../../src/time/clock.ts';
import type { OracleCommand } from './approvals-oracle.ts';
import { isAuthorizedIn, type OracleConfig } from './approvals-oracle-rules.ts';

/**
 * What the metadata service says to the next StartRequest. `starts`: accepted, and the event is Started before the
 * answer is there, or lost (`never`).
 */
export type Answer =
  | 'accepted'
  | 'starts'
  | 'slow'
  | 'slow starts'
  | 'again'
  | 'refused'
  | 'slow refused'
  | 'bad'
  | 'never'
  | 'never starts';

export type Channel = 'http' | 'topic' | 'queue';

export interface Process {
  readonly approvals: Approvals;
  /** In force. */
  config: OracleConfig;
  isDead: boolean;
  /** Occurrences whose StartRequest the service has accepted from this process. */
  readonly accepted: Set<number>;
  /** Those whose answer was lost. */
  readonly lost: Set<number>;
  /** Occurrences of which a StartRequest is on its way, and in what group it was sent. */
  readonly posting: Map<number, string>;
}

/** What is around a process. */
export interface Surroundings
  extends Pick<ApprovalPorts, 'events' | 'lastReadAt' | 'lastGoodAt' | 'isBehind' | 'isBlind' | 'room'>,
    Pick<ApprovalStore, 'commit'> {
  poll(): void;
  post(process: Process, eventIds: readonly string[]): Promise<PostResult>;
}

/** A bridge over this store; `surroundings` is asked as long as it lives. */
export function processOf(config: OracleConfig, store: ApprovalStore, time: Deps, surroundings: Surroundings): Process {
  const { approvers, required, policy, group, dryRun, holdingSinks } = config;
  const deps: Deps = { ...time, after: (delayMs, run) => time.after(delayMs, () => !process.isDead && run()) };
  const approvals = new Approvals({
    ...{ approvers, required, policy, windows: {}, budgets: {}, group, dryRun, holdingSinks, deps },
    isShared: (source) => source === 'topic',
    logger: pino({ level: 'silent' }),
    store: {
      ...{
        messages: store.messages,
        approvals: store.approvals,
        rests: store.rests,
        journal: store.journal,
        known: store.known,
      },
      holdOfAll: store.holdOfAll,
      commit: (work) => {
        if (process.isDead) throw killed();
        return surroundings.commit(work);
      },
    },
    ports: {
      drillApproved: () => {},
      isAuthorized: (origin) => isAuthorizedIn(process.config, origin),
      events: () => surroundings.events(),
      lastReadAt: () => (process.isDead ? null : surroundings.lastReadAt()),
      lastGoodAt: () => surroundings.lastGoodAt(),
      room: (reads) => surroundings.room(reads),
      isBehind: () => surroundings.isBehind(),
      isBlind: () => surroundings.isBlind(),
      wasSent: (sink) => process.config.holdingSinks.has(sink),
      actsOn: () => true,
      ownName: () => config.ownName,
      observerId: () => config.ownName.toLowerCase(),
      read: async (signal) => {
        await Promise.resolve();
        signal.throwIfAborted();
        if (!process.isDead) surroundings.poll();
        if (process.isDead) return ended(signal);
      },
      post: async (eventIds, signal) => {
        if (process.isDead) return ended(signal);
        const result = await Promise.race([surroundings.post(process, eventIds), ended(signal)]);
        return process.isDead ? ended(signal) : result;
      },
    },
  });
  const process: Process = {
    approvals,
    config,
    isDead: false,
    accepted: new Set(),
    lost: new Set(),
    posting: new Map(),
  };
  return process;
}

/**
 * What it answers at once to a command over HTTP is in `said`, as far as it is a refusal; a yes that is recorded is
 * answered later.
 */
export function ask(
  { approvals }: Process,
  { approver, holds, releases, starts }: OracleCommand,
  seen: string | undefined,
  said: string[],
): void {
  const origin: ApprovalOrigin = { approver, via: 'token', isShared: false };
  const hear = (answer: { kind: string; type?: string }) => {
    if (answer.kind === 'refusal') said.push(answer.type ?? '');
  };
  for (const key of holds) hear(approvals.hold(origin, { EventId: key.toUpperCase() }));
  for (const key of releases) hear(approvals.release(origin, key.toUpperCase(), null));
  if (starts.length > 0) approvals.request(origin, bodyOf(starts, seen)).then(hear, () => {});
}

/** As one message of a source. */
export function send(
  { approvals }: Process,
  { approver, holds, releases, starts, sentMs }: OracleCommand,
  { source, id, seen }: { readonly source: Channel; readonly id: string; readonly seen: string | undefined },
): Promise<unknown> {
  const entries = (keys: readonly string[]) => keys.map((EventId) => ({ EventId }));
  const body = {
    ...(starts.length > 0 && bodyOf(starts, seen)),
    ...(holds.length > 0 && { Holds: entries(holds) }),
    ...(releases.length > 0 && { Releases: entries(releases) }),
  };
  const message = { id, place: {}, body: new TextEncoder().encode(JSON.stringify(body)), sentMs: sentMs ?? 0 };
  const taken = approvals.take({ source, approver, canGiveBack: source === 'queue' }, message);
  taken.catch(() => {});
  return taken;
}

/** With the time that it takes. */
export async function answerOf(time: Deps, answer: Answer): Promise<PostResult> {
  const after = (ms: number) => new Promise<void>((resolve) => time.after(ms, resolve));
  if (answer.startsWith('slow')) await after(3000);
  const isLost = answer.startsWith('never');
  if (isLost) await after(10_000);
  const error = new Error('the metadata service did not accept it');
  if (answer === 'again' || isLost) return { kind: 'again', error, delayMs: 1000, mayHaveArrived: isLost };
  if (answer === 'bad') return { kind: 'refused', status: 400, error };
  return answer.endsWith('refused') ? { kind: 'refused', status: 403, error } : { kind: 'accepted' };
}

export function killed(): BridgeError {
  return new BridgeError('BRIDGE_STORE_FULL', 'the process was killed');
}

function bodyOf(starts: OracleCommand['starts'], seen: string | undefined): object {
  return {
    StartRequests: starts.map(({ key }) => ({ EventId: key.toUpperCase(), ...(seen !== undefined && { Seen: seen }) })),
  };
}

/** Nothing comes back, as to a process that is no more, until it is told to give up. */
function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}
