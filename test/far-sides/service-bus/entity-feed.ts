// GET of a queue, topic or subscription → its description by the management API 2021-05.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Claim, JWT_TYPE, judgeToken, SAS_TYPE } from './access-keys.ts';
import type { Broker } from './broker.ts';
import { type Inbox, Queue, Subscription, Topic } from './entities.ts';

const SCHEMA = 'http://schemas.microsoft.com/netservices/2010/10/servicebus/connect';
/** The longest duration of .NET. */
const NEVER = 'P10675199DT2H48M5.4775807S';

export function answerEntityFeed(broker: Broker, request: IncomingMessage, response: ServerResponse): void {
  const [path = '', query = ''] = (request.url ?? '').slice(1).split('?');
  const status = statusOf(broker, request, decodeURIComponent(path), query);
  broker.contacts.push({ what: 'http', method: request.method ?? '', path: `/${path}`, status });
  const found = describe(broker, decodeURIComponent(path), `https://${request.headers.host}/${path}?${query}`);
  response.writeHead(status, { 'Content-Type': 'application/atom+xml;type=entry;charset=utf-8' });
  response.end(
    status === 200
      ? (found ?? EMPTY_FEED)
      : `<Error><Code>${status}</Code><Detail>${DETAILS[status] ?? ''}</Detail></Error>`,
  );
}

/** What the service sends for an entity that it does not have, with status 200. */
const EMPTY_FEED =
  '<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Publicly Listed Services</title></feed>';

/** What this server has no setting for. */
const COMMON = {
  DefaultMessageTimeToLive: NEVER,
  AutoDeleteOnIdle: NEVER,
  EntityAvailabilityStatus: 'Available',
  EnableBatchedOperations: true,
  EnableExpress: false,
  SupportOrdering: true,
  DeadLetteringOnFilterEvaluationExceptions: false,
  SizeInBytes: 0,
};

const DETAILS: Readonly<Record<number, string>> = {
  400: 'The api-version is missing.',
  401: 'Manage,EntityRead claims required for this operation.',
  405: 'Entities are only read here.',
};

function statusOf(broker: Broker, { method, headers }: IncomingMessage, path: string, query: string): number {
  if (method !== 'GET') return 405;
  if (!new URLSearchParams(query).has('api-version')) return 400;
  const [scheme = '', bearer = ''] = (headers.authorization ?? '').split(' ');
  const token =
    scheme === 'Bearer' ? { text: bearer, type: JWT_TYPE } : { text: headers.authorization ?? '', type: SAS_TYPE };
  const grant = judgeToken(
    { ...token, audience: `https://${headers.host}/${path}` },
    broker.keys,
    broker.checkJwt,
    broker.clock.now(),
  );
  const needed: Claim = 'Manage';
  return typeof grant === 'object' && grant.claims.includes(needed) ? 200 : 401;
}

function describe({ namespace }: Broker, path: string, id: string): string | null {
  const entity = namespace.target(path);
  if (entity instanceof Queue)
    return entry(id, 'QueueDescription', {
      ...receiving(entity.inbox),
      ...sending(entity),
      Status: statusName(entity.status),
    });
  if (entity instanceof Topic)
    return entry(id, 'TopicDescription', { ...sending(entity), Status: statusName(entity.status) });
  const subscription = namespace.node(path)?.subscription;
  if (!(subscription instanceof Subscription)) return null;
  return entry(id, 'SubscriptionDescription', { ...receiving(subscription), Status: statusName(subscription.status) });
}

function receiving({ settings, sessions, store }: Inbox): Record<string, unknown> {
  return {
    LockDuration: iso(settings.lockDurationMs),
    RequiresSession: sessions,
    DefaultMessageTimeToLive: iso(settings.defaultTtlMs),
    DeadLetteringOnMessageExpiration: settings.deadLetterOnExpiration,
    MaxDeliveryCount: settings.maxDeliveryCount,
    MessageCount: store.all().length,
  };
}

function sending({ duplicateWindowMs, partitioned }: Queue | Topic): Record<string, unknown> {
  return {
    MaxSizeInMegabytes: 1024,
    RequiresDuplicateDetection: duplicateWindowMs !== null,
    DuplicateDetectionHistoryTimeWindow: iso(duplicateWindowMs ?? 600_000),
    EnablePartitioning: partitioned,
  };
}

function entry(id: string, type: string, fields: Readonly<Record<string, unknown>>): string {
  const elements = Object.entries({ ...COMMON, ...fields }).map(([name, value]) => `<${name}>${value}</${name}>`);
  const description = `<${type} xmlns="${SCHEMA}">${elements.join('')}</${type}>`;
  return `<entry xmlns="http://www.w3.org/2005/Atom"><id>${id}</id><content type="application/xml">${description}</content></entry>`;
}

function iso(ms: number): string {
  return Number.isFinite(ms) ? `PT${ms / 1000}S` : NEVER;
}

function statusName(status: string): string {
  return (
    { active: 'Active', disabled: 'Disabled', 'send-disabled': 'SendDisabled', 'receive-disabled': 'ReceiveDisabled' }[
      status
    ] ?? ''
  );
}
