// A metadata request → the simulated answer: events, StartRequests, instance metadata.
import { isMapping } from '../../schema/validate.ts';
import {
  answerJson,
  empty,
  fromJsonBytes,
  jsonBytes,
  pathAndQuery,
  type SimAnswer,
  type SimRequest,
  spacedJson,
  toJsonBytes,
} from '../answer.ts';
import type { Machine } from '../events/machine.ts';
import type { Group } from '../group.ts';
import { toDocument } from './document.ts';
import { computeOf } from './instance.ts';
import { type HostVersions, isDate, type VersionRule } from './metadata-versions.ts';

/** A request that passed the checks of all routes. */
interface Call {
  readonly group: Group;
  readonly machine: Machine;
  readonly request: SimRequest;
  /** The query's parameters, with names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly apiVersion: string;
  readonly nowMs: number;
  readonly effects: FaultEffects;
}

/** The effects of a fault on the service itself, beyond the answer. */
interface FaultEffects {
  /** A POST approves nothing. */
  readonly noEffect?: boolean;
  /** The document is that from before the last change. */
  readonly stale?: boolean;
}

type Handler = (call: Call) => SimAnswer;

interface Route {
  readonly methods: Readonly<Record<string, Handler>>;
  readonly versions: keyof HostVersions['rules'];
}

/** The service's answer to a missing or unknown version. */
const NO_VERSION =
  'Bad request. api-version is invalid or was not specified in the request. For more information refer to aka.ms/azureimds';

/**
 * The 404 of some hosts for an unknown version (hashicorp/terraform-azurerm-consul#38); it lists no newest versions.
 */
const UNKNOWN_VERSION = { error: 'Not found. Invalid version requested' };

const NOT_FOUND = { error: 'Not found.' };

/** By path in lower case, without a trailing slash. */
const ROUTES: Readonly<Record<string, Route>> = {
  '/metadata/scheduledevents': { methods: { GET: getDocument, POST: startEvents }, versions: 'events' },
  '/metadata/instance': {
    methods: { GET: ({ machine }) => answerJson(200, { compute: computeOf(machine) }) },
    versions: 'instance',
  },
  '/metadata/instance/compute': {
    methods: { GET: ({ machine }) => answerJson(200, computeOf(machine)) },
    versions: 'instance',
  },
  '/metadata/versions': {
    methods: { GET: ({ group }) => answerJson(200, { apiVersions: group.versions.all }) },
    versions: 'none',
  },
};

/** Whether a URL is below /metadata, known or not. Faults apply to these requests, and the journal keeps them. */
export function isMetadataRoute(url: string): boolean {
  return /^\/metadata(?:[/?]|$)/i.test(url);
}

/**
 * Answers a metadata request. That the version is checked before the path was seen on a real machine; the rest of the
 * order is our choice (docs/simulate/fidelity.md, F-10).
 * @param request with header names in lower case
 */
export function answerMetadata(
  group: Group,
  machine: Machine,
  request: SimRequest,
  nowMs: number,
  effects: FaultEffects,
): SimAnswer {
  const [path, query] = pathAndQuery(request.url);
  const route = routeOf(path.toLowerCase().replace(/\/$/, ''));
  const handler = route && Object.hasOwn(route.methods, request.method) ? route.methods[request.method] : undefined;
  if (route && !handler)
    return spacedJson(405, { error: 'Method not allowed.' }, { allow: Object.keys(route.methods).join(', ') });
  if (request.headers['metadata']?.trim().toLowerCase() !== 'true')
    return refusal('Bad request: . Required metadata header not specified');
  if (request.headers['x-forwarded-for'] !== undefined)
    return badRequest('Requests with X-Forwarded-For are rejected: they must not pass a proxy.');
  const versions = group.versions.rules[route?.versions ?? 'instance'];
  const parameters = [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value] as const);
  const byName = new Map(parameters);
  if (byName.size < parameters.length)
    return refusal('Bad request. A query parameter was specified more than once in the request.', versions);
  const apiVersion = byName.get('api-version') ?? '';
  if (!versions.takes(apiVersion)) return refuseVersion(apiVersion, versions, group.versions);
  if (!handler) return spacedJson(404, NOT_FOUND);
  return handler({ group, machine, request, parameters: byName, apiVersion, nowMs, effects });
}

function refuseVersion(apiVersion: string, versions: VersionRule, { unknownStatus }: HostVersions): SimAnswer {
  return unknownStatus === 404 && isDate(apiVersion) ? spacedJson(404, UNKNOWN_VERSION) : refusal(NO_VERSION, versions);
}

function routeOf(key: string): Route | undefined {
  if (Object.hasOwn(ROUTES, key)) return ROUTES[key];
  const [, field] = /^\/metadata\/instance\/compute\/([^/]+)$/.exec(key) ?? [];
  if (field === undefined) return undefined;
  return { methods: { GET: (call) => getField(call, field) }, versions: 'instance' };
}

/** Answers a single field of `compute`: a text only with `format=text`, a list as JSON. @param name in lower case */
function getField({ machine, parameters }: Call, name: string): SimAnswer {
  const [, value] = Object.entries(computeOf(machine)).find(([field]) => field.toLowerCase() === name) ?? [];
  if (value === undefined) return spacedJson(404, NOT_FOUND);
  if (typeof value !== 'string') return answerJson(200, value);
  return parameters.get('format')?.toLowerCase() === 'text'
    ? text(value)
    : badRequest('A single value requires format=text.');
}

/** The answer to a request beyond the rate limit. */
export function tooMany(): SimAnswer {
  return spacedJson(429, { error: 'Too many requests. The limit is 5 per second for each machine.' });
}

function getDocument({ group, machine: { name: vm }, request, apiVersion, nowMs, effects }: Call): SimAnswer {
  const notBeforeMs = group.activation.onRequest(nowMs);
  const { view } = group.events;
  const before = effects.stale ? view.listedBefore(vm) : null;
  const etag = `"${before?.incarnation ?? view.incarnation}"`;
  const answer = matches(request.headers['if-none-match'], etag)
    ? empty(304, { etag })
    : jsonBytes(200, before ? toJsonBytes(toDocument(before, apiVersion)) : group.documents.bytes(vm, apiVersion), {
        etag,
      });
  return notBeforeMs === null ? answer : { ...answer, notBeforeMs };
}

function startEvents({ group, machine: { name: vm }, request, nowMs, effects }: Call): SimAnswer {
  const eventIds = readStartRequests(request.body);
  if (!eventIds) return badRequest('The body is not { "StartRequests": [ { "EventId": "..." } ] }.');
  const notBeforeMs = group.activation.onRequest(nowMs);
  const unknown = group.events.approve(vm, eventIds, nowMs, !effects.noEffect);
  // Neither the answer to an unknown id nor the body of a 200 is documented.
  const answer =
    unknown.length > 0 ? badRequest(`No event is listed with the EventId ${unknown.join(', ')}.`) : empty(200);
  return notBeforeMs === null ? answer : { ...answer, notBeforeMs };
}

/** Returns the EventIds, or null if the body is malformed. Accepts additional keys, repeated ids and an empty list. */
function readStartRequests(body: Uint8Array): readonly string[] | null {
  const document = fromJsonBytes(body);
  const requests = isMapping(document) ? document['StartRequests'] : undefined;
  if (!Array.isArray(requests)) return null;
  const eventIds: string[] = [];
  for (const request of requests) {
    const eventId = isMapping(request) ? request['EventId'] : undefined;
    if (typeof eventId !== 'string') return null;
    eventIds.push(eventId);
  }
  return eventIds;
}

/** RFC 9110, section 13.1.2: weak comparison. */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}

function text(value: string): SimAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: new TextEncoder().encode(value),
  };
}

function badRequest(error: string): SimAnswer {
  return refusal(`Bad request. ${error}`);
}

/** @param versions the rule whose newest versions the answer lists */
function refusal(error: string, versions?: VersionRule): SimAnswer {
  return spacedJson(400, { error, ...(versions ? { 'newest-versions': versions.newest } : {}) });
}
