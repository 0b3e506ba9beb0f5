// An attach, its role and address → why it is refused: a fault, no such entity, no right, disabled.
import type { Sender } from 'rhea';
import { type Broker, spelledOut } from './broker.ts';
import type { TokenStore } from './cbs.ts';
import type { AttachFault } from './fault-script.ts';
import { isManagement, type ReceiveNode } from './namespace.ts';
import type { AmqpFault } from './rhea-link.ts';
import { type Place, unauthorized } from './service-faults.ts';
import { sessionWanted } from './session-attach.ts';

/** What the client is on the link. */
export type Role = 'sender' | 'receiver';

/** Null where it may attach. `fault` is the script's, and comes before all else. */
export function refusalOf(
  broker: Broker,
  tokens: TokenStore,
  fault: AttachFault | null,
  role: Role,
  address: string,
  place: Place,
): AmqpFault | null {
  if (fault?.do === 'refuse') return spelledOut(fault.with, place);
  const { namespace } = broker;
  const [target, node] = [namespace.target(place.path), namespace.node(place.path)];
  if (isManagement(address)) {
    if (!target && !node) return spelledOut('notFound', place);
    return tokens.allows(place.path, 'Send') || tokens.allows(place.path, 'Listen')
      ? null
      : unauthorized(place, 'Manage');
  }
  if (role === 'sender' ? !target : !node) return spelledOut('notFound', place);
  const claim = role === 'sender' ? 'Send' : 'Listen';
  if (!tokens.allows(place.path, claim)) return unauthorized(place, claim);
  const status = role === 'sender' ? target?.status : node?.status();
  const closed = role === 'sender' ? 'send-disabled' : 'receive-disabled';
  return status === 'disabled' || status === closed ? spelledOut('disabled', place) : null;
}

/** Entities with sessions are received from session by session, others never. */
export function sessionRefusal(link: Sender, node: ReceiveNode): AmqpFault | null {
  if (node.sessions === (sessionWanted(link) !== undefined)) return null;
  const description = node.sessions
    ? 'It is not possible for an entity that requires sessions to create a non-sessionful message receiver.'
    : 'A sessionful message receiver cannot be created on an entity that does not require sessions.';
  return { condition: 'amqp:not-allowed', description };
}
