// Management requests about locks: renewed, settled by token, sessions and their state.
import type { AmqpValue } from './amqp-value.ts';
import type { Settlement } from './message-store.ts';
import { OK, type Operation, refusal } from './operation.ts';
import { typed } from './typed-values.ts';

const renewLock: Operation = ({ broker, place, fields }) => {
  const store = broker.namespace.node(place.path)?.store;
  const ends = tokensOf(fields).map((token) => store?.renew(token) ?? null);
  const renewed = ends.filter((end) => end !== null);
  if (renewed.length < ends.length) return refusal('messageLockLost', place);
  return { ...OK, body: { expirations: typed.timestamps(renewed) } };
};

const updateDisposition: Operation = ({ broker, place, fields }) => {
  const store = broker.namespace.node(place.path)?.store;
  const settlement = settlementOf(fields);
  const settled = tokensOf(fields).map((token) => store?.settle(token, settlement) ?? false);
  return settled.every(Boolean) ? OK : refusal('messageLockLost', place);
};

const renewSessionLock: Operation = ({ broker, place, fields }) => {
  const end = broker.namespace.node(place.path)?.store.sessions.renew(text(fields['session-id'])) ?? null;
  return end === null ? refusal('sessionLockLost', place) : { ...OK, body: { expiration: typed.timestamp(end) } };
};

const getSessionState: Operation = ({ broker, place, fields }) => {
  const state = broker.namespace.node(place.path)?.store.sessions.state(text(fields['session-id'])) ?? null;
  return { ...OK, body: { 'session-state': state } };
};

const setSessionState: Operation = ({ broker, place, fields }) => {
  const state = fields['session-state'];
  const sessions = broker.namespace.node(place.path)?.store.sessions;
  sessions?.setState(text(fields['session-id']), state?.type === 'binary' ? state.value : null);
  return OK;
};

const getMessageSessions: Operation = ({ broker, place, fields }) => {
  const [skip, top] = [Number(fields['skip']?.value ?? 0), Number(fields['top']?.value ?? 100)];
  const ids =
    broker.namespace
      .node(place.path)
      ?.store.sessionIds()
      .slice(skip, skip + top) ?? [];
  return ids.length > 0 ? { ...OK, body: { 'sessions-ids': ids, skip } } : { status: 204, description: 'No Content' };
};

export const LOCK_OPERATIONS: Readonly<Record<string, Operation>> = {
  'renew-lock': renewLock,
  'update-disposition': updateDisposition,
  'renew-session-lock': renewSessionLock,
  'get-session-state': getSessionState,
  'set-session-state': setSessionState,
  'get-message-sessions': getMessageSessions,
};

function settlementOf(fields: Readonly<Record<string, AmqpValue>>): Settlement {
  const modified = fields['properties-to-modify'];
  const properties =
    modified?.type === 'map'
      ? Object.fromEntries(modified.value.map(([key, value]) => [String(key.value), value.value]))
      : {};
  const optional = (name: string) => (fields[name] ? text(fields[name]) : null);
  switch (text(fields['disposition-status'])) {
    case 'completed':
      return { how: 'complete' };
    case 'defered':
      return { how: 'defer', properties };
    case 'suspended':
      return {
        how: 'dead-letter',
        reason: optional('deadletter-reason'),
        description: optional('deadletter-description'),
        properties,
      };
    default:
      return { how: 'abandon', properties };
  }
}

/** Lock tokens as the store has them, from an array of UUIDs. */
function tokensOf(fields: Readonly<Record<string, AmqpValue>>): string[] {
  const tokens = fields['lock-tokens'];
  return tokens?.type === 'array' ? tokens.value.map((token) => text(token).replaceAll('-', '')) : [];
}

function text(value: AmqpValue | undefined): string {
  return String(value?.value ?? '');
}
