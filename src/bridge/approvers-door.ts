// Approvals, once there are any → what the HTTP routes of approvals, holds and records ask for.

import type { Approvals } from '../approvals/approvals.ts';
import { type Refusal, refusal } from '../approvals/requests/answer.ts';
import { parseStartRequests } from '../approvals/requests/start-requests.ts';
import type { Caller } from '../auth/caller.ts';
import { BridgeError } from '../errors.ts';
import type { ApprovalPorts } from '../http/bridge-ports.ts';

/** `approvals` gives null until it is known which VM this is. */
export function approversDoor(configured: boolean, approvals: () => Approvals | null): ApprovalPorts {
  return {
    configured,
    request: async (caller, body) => approvals()?.request(originOf(caller), body) ?? faultOf(parseStartRequests(body)) ?? unready(),
    hold: (caller, body) => (approvals() ?? unready()).hold(originOf(caller), body),
    release: (caller, eventId, holder, beforeMs) => (approvals() ?? unready()).release(originOf(caller), eventId, holder, beforeMs),
    life: (eventId, range) => (approvals() ?? unready()).life(eventId, range),
  };
}

/** What came to this bridge's own endpoint no other bridge has heard. */
function originOf({ name, via }: Caller) {
  return { approver: name, via, isShared: false };
}

/** Before a document was handled nothing can be approved, but what is wrong with a body can be told. */
function faultOf(requests: unknown): Refusal | null {
  return typeof requests === 'string' ? refusal('bad-request', requests) : null;
}

function unready(): never {
  throw new BridgeError('BRIDGE_APPROVALS_NOT_READY', 'no document has been handled yet; ask again when /readyz says ready');
}
