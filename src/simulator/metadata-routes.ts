// A request of a machine to its metadata service → the answer of the simulated one: scheduled events, StartRequests, instance metadata.
import { empty, json, type SimAnswer, type SimRequest } from './answer.ts';
import { isKnownVersion, NEWEST_VERSIONS, toDocument } from './document.ts';
import type { Group } from './group.ts';
import { computeOf } from './instance.ts';

/** A request that passed the checks that all routes have in common. */
interface Call {
  readonly group: Group;
  readonly vm: string;
  readonly request: SimRequest;
  readonly apiVersion: string;
  readonly nowMs: number;
  /** False for a POST that was ordered to have none. */
  readonly effect: boolean;
}

type Handler = (call: Call) => SimAnswer;

interface Route {
  readonly methods: Readonly<Record<string, Handler>>;
  readonly isKnownVersion: (apiVersion: string) => boolean;
}

/** The instance route has dozens of versions of its own, which do not differ in what is answered here. */
const isInstanceVersion = (apiVersion: string) => /^20\d\d-[01]\d-[0-3]\d$/.test(apiVersion) && apiVersion >= '2017-03-01';

/** By path in lower case. */
const ROUTES: Readonly<Record<string, Route>> = {
  '/metadata/scheduledevents': { methods: { GET: getDocument, POST: startEvents }, isKnownVersion },
  '/metadata/instance': { methods: { GET: ({ vm }) => json(200, { compute: computeOf(vm) }) }, isKnownVersion: isInstanceVersion },
  '/metadata/instance/compute': { methods: { GET: ({ vm }) => json(200, computeOf(vm)) }, isKnownVersion: isInstanceVersion },
};

/** All below /metadata, unknown paths too: what faults spoil and the journal keeps. */
export function isMetadataRoute(url: string): boolean {
  return /^\/metadata(?:[/?]|$)/i.test(url);
}

/** @param request with its header names in lower case */
export function answerMetadata(group: Group, vm: string, request: SimRequest, nowMs: number, effect: boolean): SimAnswer {
  const [path = '', query = ''] = request.url.split(/\?(.*)/s);
  const route = Object.hasOwn(ROUTES, path.toLowerCase()) ? ROUTES[path.toLowerCase()] : undefined;
  if (!route) return json(404, { error: 'Not found.' });
  const handler = Object.hasOwn(route.methods, request.method) ? route.methods[request.method] : undefined;
  if (!handler) return json(405, { error: 'Method not allowed.' }, { allow: Object.keys(route.methods).join(', ') });
  if (request.headers['metadata']?.trim().toLowerCase() !== 'true') return badRequest('Required metadata header not specified.');
  if (request.headers['x-forwarded-for'] !== undefined)
    return badRequest('The header X-Forwarded-For is refused: no proxy may stand between.');
  const versions = parametersNamed(query, 'api-version');
  const [apiVersion] = versions;
  if (apiVersion === undefined) return unknownVersion('api-version was not specified.');
  if (versions.length > 1) return unknownVersion('api-version was specified more than once.');
  if (!route.isKnownVersion(apiVersion)) return unknownVersion('api-version is unknown.');
  return handler({ group, vm, request, apiVersion, nowMs, effect });
}

function getDocument({ group, vm, request, apiVersion }: Call): SimAnswer {
  const { incarnation } = group.events;
  const etag = `"${incarnation}"`;
  if (matches(request.headers['if-none-match'], etag)) return empty(304, { etag });
  return json(200, toDocument(incarnation, group.events.listed(vm), apiVersion), { etag });
}

function startEvents({ group, vm, request, nowMs, effect }: Call): SimAnswer {
  const eventIds = readStartRequests(request.body);
  if (!eventIds) return badRequest('The body is not { "StartRequests": [ { "EventId": "..." } ] }.');
  const unknown = group.events.approve(vm, eventIds, nowMs, effect);
  // What the service says to an unknown id is not documented; nor is the body of its yes, which may be empty.
  return unknown.length > 0 ? badRequest(`No event is listed with the EventId ${unknown.join(', ')}.`) : empty(200);
}

/** The EventIds, or null where the body is malformed. Further keys are tolerated, as are repeated ids and an empty list. */
function readStartRequests(body: Uint8Array): readonly string[] | null {
  const document = readJson(body);
  const requests = isRecord(document) ? document['StartRequests'] : undefined;
  if (!Array.isArray(requests)) return null;
  const eventIds: string[] = [];
  for (const request of requests) {
    const eventId = isRecord(request) ? request['EventId'] : undefined;
    if (typeof eventId !== 'string') return null;
    eventIds.push(eventId);
  }
  return eventIds;
}

function readJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parametersNamed(query: string, name: string): readonly string[] {
  return [...new URLSearchParams(query)].filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
}

/** RFC 9110, section 13.1.2: weak comparison. */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}

function badRequest(error: string): SimAnswer {
  return json(400, { error: `Bad request. ${error}` });
}

function unknownVersion(error: string): SimAnswer {
  return json(400, { error: `Bad request. ${error}`, 'newest-versions': NEWEST_VERSIONS });
}
