// What is known, and approvers' requests → GET /v1/events and POST /v1/approvals, behind their tokens (contract, section 6).
import { Access, type AccessOptions } from './access.ts';
import { readJson } from './body.ts';
import { type Problem, problem, problemReply } from './problem.ts';
import { json, type Reply, type Route, type RouteRequest } from './route.ts';

/** What `GET /v1/events` shows. */
export interface EventsView {
  readonly state: 'watching' | 'enabling' | 'blind';
  readonly documentIncarnation: number | null;
  /** RFC 3339; null before the first good document. */
  readonly observedAt: string | null;
  /** The `data` of a CloudEvent of each event, and `approval`. */
  readonly events: readonly object[];
}

/** The results to show, or the problem that decided. */
export type ApprovalReply =
  | { readonly kind: 'results'; readonly status: number; readonly results: readonly object[] }
  | ({ readonly kind: 'refusal' } & Problem);

export interface BridgePorts {
  events(): EventsView;
  readonly approvals: {
    /** False: nobody may approve through this endpoint. */
    readonly configured: boolean;
    /** `body` is the JSON value as it came. */
    request(approver: string, body: unknown): Promise<ApprovalReply>;
  };
}

export function bridgeRoutes(ports: BridgePorts, options: AccessOptions): readonly Route[] {
  const access = new Access(options);
  return [
    { method: 'GET', path: '/v1/events', handle: (request) => access.refuseReading(request) ?? json(200, ports.events()) },
    { method: 'POST', path: '/v1/approvals', handle: (request) => approve(request, ports, access) },
  ];
}

/** The order of the refusals is the contract's. */
async function approve(request: RouteRequest, { approvals }: BridgePorts, access: Access): Promise<Reply> {
  if (!approvals.configured) {
    return problem(
      403,
      'no-approvers',
      'No approvers are configured: name them under approvals.approvers in the configuration of the bridge.',
    );
  }
  const caller = access.identify(request);
  if (!('kind' in caller)) return caller;
  if (caller.kind === 'reader') return problem(403, 'reader', `${caller.name} is a reader; use the token of an approver.`);
  const body = await readJson(request);
  if ('reply' in body) return body.reply;
  const answer = await approvals.request(caller.name, body.value);
  if (answer.kind === 'results') return json(answer.status, { results: answer.results });
  const { kind: _, ...refused } = answer;
  return problemReply(refused);
}
