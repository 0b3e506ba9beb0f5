// A control request → its effect on the group, and its answer: the routes under /simulator.
import createRouter from 'find-my-way';
import {
  answerJson,
  answerProblem,
  type ControlRefusal,
  empty,
  pathAndQuery,
  type SimAnswer,
  type SimRequest,
} from '../answer.ts';
import type { WireEvent } from '../events/event.ts';
import { isRefusal } from '../events/event-store.ts';
import type { Group } from '../group.ts';
import { scriptNamed } from '../script/script.ts';
import { readClockOrder, readEventFields, readFaultOrders } from './control-orders.ts';
import { describeGroup } from './describe-group.ts';

interface Call {
  readonly group: Group;
  readonly body: Uint8Array;
  /** Without the question mark. */
  readonly query: string;
  /** The EventId or scenario name in the path, or an empty text. */
  readonly named: string;
  readonly nowMs: number;
}

type Handler = (call: Call) => SimAnswer;
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const ROUTES: readonly (readonly [Method, string, Handler])[] = [
  ['POST', '/simulator/events', schedule],
  ['PATCH', '/simulator/events/:named', change],
  ['POST', '/simulator/events/:named/start', ({ group, named, nowMs }) => answer(group.events.start(named, nowMs))],
  ['POST', '/simulator/events/:named/end', ({ group, named, nowMs }) => answer(group.events.end(named, nowMs))],
  ['POST', '/simulator/events/:named/cancel', ({ group, named, nowMs }) => answer(group.events.cancel(named, nowMs))],
  ['PUT', '/simulator/faults', orderFaults],
  ['GET', '/simulator/clock', ({ group }) => clock(group)],
  ['PUT', '/simulator/clock', setClock],
  ['GET', '/simulator/requests', requests],
  ['GET', '/simulator/scenarios', ({ group }) => answerJson(200, scenarios(group))],
  ['POST', '/simulator/scenarios/:named', startScenario],
  ['GET', '/simulator', ({ group, nowMs }) => answerJson(200, describeGroup(group, nowMs))],
  ['DELETE', '/simulator', reset],
];

const METHODS = [...new Set(ROUTES.map(([method]) => method))];

/** Finds the handler, which is in a route's `store`: the handlers of find-my-way itself are for sockets. */
const router = createRouter({ ignoreTrailingSlash: true, maxParamLength: 1024 });
for (const [method, path, handler] of ROUTES) router.on(method, path, () => undefined, handler);

export function isControlRoute(url: string): boolean {
  return /^\/simulator(?:[/?]|$)/.test(url);
}

/** Answers a control request. @param request with header names in lower case */
export function answerControl(group: Group, request: SimRequest, nowMs: number): SimAnswer {
  const [path, query] = pathAndQuery(request.url);
  if (isCrossOrigin(request))
    return answerProblem({ status: 403, detail: 'A page of another origin cannot control the simulator.' });
  const method = METHODS.find((known) => known === request.method);
  const found = method && router.find(method, path);
  if (found)
    return (found.store as Handler)({ group, body: request.body, named: found.params['named'] ?? '', query, nowMs });
  const allowed = METHODS.filter((known) => router.find(known, path));
  if (allowed.length === 0)
    return answerProblem({
      status: 404,
      detail: `There is no route ${path}: docs/simulate/simulator.md lists the routes.`,
    });
  return answerProblem(
    { status: 405, detail: `${path} accepts ${allowed.join(' and ')}.` },
    { allow: allowed.join(', ') },
  );
}

/**
 * Browsers send `Origin`. A page of a foreign site must not schedule events on the simulator of a person who visits it.
 */
function isCrossOrigin({ headers }: SimRequest): boolean {
  const { origin, host } = headers;
  return origin !== undefined && origin !== `http://${host}`;
}

function schedule({ group, body, nowMs }: Call): SimAnswer {
  const fields = readEventFields(body);
  if ('detail' in fields) return answerProblem(fields);
  const event = group.events.schedule(fields, nowMs);
  if (isRefusal(event)) return answerProblem(event);
  return answerJson(201, event, { location: `/simulator/events/${encodeURIComponent(event.EventId)}` });
}

function change({ group, body, named, nowMs }: Call): SimAnswer {
  const fields = readEventFields(body);
  return 'detail' in fields ? answerProblem(fields) : answer(group.events.change(named, fields, nowMs));
}

function orderFaults({ group, body, nowMs }: Call): SimAnswer {
  const orders = readFaultOrders(
    body,
    group.machines.map(({ name }) => name),
  );
  if ('detail' in orders) return answerProblem(orders);
  group.faults.order(orders, nowMs);
  return empty(204);
}

function requests({ group, query }: Call): SimAnswer {
  const last = new URLSearchParams(query).get('last');
  if (last === null) return answerJson(200, group.journal.requests());
  if (/^\d{1,6}$/.test(last)) return answerJson(200, group.journal.requests(Number(last)));
  const faults = [{ path: 'last', message: 'must be a whole number' }];
  return answerProblem({ status: 400, detail: 'last: must be a whole number', faults });
}

function scenarios({
  scenarios,
  player,
}: Group): readonly { readonly name: string; readonly purpose: string; readonly running: boolean }[] {
  const running = player.running();
  return scenarios.map(({ name, purpose }) => ({ name, purpose, running: running?.script.name === name }));
}

function setClock({ group, body }: Call): SimAnswer {
  const order = readClockOrder(body);
  if ('detail' in order) return answerProblem(order);
  if (order.advance !== undefined && !group.clock.advance(order.advance)) {
    return answerProblem({
      status: 400,
      detail: 'advance: would pass the year 9999',
      faults: [{ path: 'advance', message: 'would pass the year 9999' }],
    });
  }
  if (order.speed !== undefined) group.clock.setSpeed(order.speed);
  if (order.notBefore !== undefined) group.notBefore = order.notBefore;
  group.catchUp();
  return clock(group);
}

function clock(group: Group): SimAnswer {
  return answerJson(200, { now: new Date(group.clock.nowMs()).toISOString(), speed: group.clock.speed });
}

function startScenario({ group, named, nowMs }: Call): SimAnswer {
  const script = scriptNamed(group.scenarios, named);
  if (!script) {
    const known = group.scenarios.map(({ name }) => name).join(', ') || 'none';
    return answerProblem({ status: 404, detail: `There is no scenario "${named}". The scenarios are: ${known}.` });
  }
  group.player.start(script, nowMs);
  return answerJson(
    200,
    scenarios(group).find(({ name }) => name === script.name),
  );
}

function reset({ group, nowMs }: Call): SimAnswer {
  group.reset(nowMs);
  return empty(204);
}

function answer(outcome: WireEvent | ControlRefusal): SimAnswer {
  return isRefusal(outcome) ? answerProblem(outcome) : answerJson(200, outcome);
}
