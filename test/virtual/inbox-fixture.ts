// An approval fixture → messages of a source `topic` to its approvals, and what was said of them.
import type { ApprovalMessage, MessageVerdict } from '../../adapters/approval-source.ts';
import type { Approvals } from '../../src/approvals/approvals.ts';
import type { MessageOrigin } from '../../src/approvals/inbox/inbox.ts';
import type { ApprovalsFixture } from './approvals-fixture.ts';

/** Speaks for `orders`, and gives nothing back. */
export const ORIGIN: MessageOrigin = { source: 'topic', approver: 'orders', canGiveBack: false };

let sent = 0;

/** A message sent now, of an id of its own; an object is sent as its JSON, bytes and null as they are. */
export function letter(fixture: ApprovalsFixture, body: unknown, more: Partial<ApprovalMessage> = {}): ApprovalMessage {
  const id = `message ${sent++}`;
  const bytes =
    body === null || body instanceof Uint8Array
      ? body
      : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
  return {
    id,
    place: { topic: 'approvals', partition: 0, offset: sent },
    body: bytes,
    sentMs: fixture.time.wallMs(),
    ...more,
  };
}

/**
 * `settle`, `giveBack`, the reason of a refusal, or the code of an error; with virtual time passing until it is there.
 */
export async function verdictOf(fixture: ApprovalsFixture, taken: Promise<MessageVerdict>, ms = 0): Promise<string> {
  const told = taken.then(
    (verdict) => (typeof verdict === 'object' ? verdict.reason : verdict),
    (error: unknown) => `error ${(error as { code?: string }).code ?? String(error)}`,
  );
  await fixture.time.advance(ms);
  return told;
}

/** Takes it and lets no time pass. */
export function take(
  fixture: ApprovalsFixture,
  approvals: Approvals,
  message: ApprovalMessage,
  origin = ORIGIN,
): Promise<string> {
  return verdictOf(fixture, approvals.take(origin, message));
}
