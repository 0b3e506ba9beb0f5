// POST /v1/approvals and GET /v1/approvals/EVENT_ID (behaviour 6.1).
import { refusal } from '../approvals/requests/answer.ts';
import { parseStartRequests } from '../approvals/requests/start-requests.ts';
import type { Access } from './access.ts';
import { admitWithBody } from './admit-with-body.ts';
import { type ApproverPorts, admitApprover, ready, refusedReply } from './approver.ts';
import { problem } from './problem.ts';
import { recordRange } from './record-range.ts';
import { json, type Reply, type Route, type RouteRequest } from './route.ts';

export function approvalRoutes(ports: ApproverPorts, access: Access): readonly Route[] {
  return [
    { method: 'POST', path: '/v1/approvals', handle: (request) => approve(request, ports, access) },
    {
      method: 'GET',
      path: '/v1/approvals/:eventId',
      handle: async (request) => (await access.refuseReading(request)) ?? request.inTurn(() => tell(request, ports)),
    },
  ];
}

async function approve(request: RouteRequest, ports: ApproverPorts, access: Access): Promise<Reply> {
  const admitted = await admitWithBody(request, () => admitApprover(request, ports, access));
  if ('reply' in admitted) return admitted.reply;
  const { origin, value } = admitted;
  // Ignoring a hold would let an approval through, so such a body is refused as a whole.
  if (typeof value === 'object' && value !== null && ('Holds' in value || 'Releases' in value)) {
    const detail =
      'Approvals alone are taken here: hold by POST /v1/holds and release by DELETE /v1/holds/EVENT_ID; Holds and Releases are for sources.';
    return problem('bad-request', detail);
  }
  const fault = ports.approvals() === null ? parseStartRequests(value) : null;
  // Before a document was handled nothing can be approved, but what is wrong with a body can be told.
  if (typeof fault === 'string') return refusedReply(refusal('bad-request', fault));
  const answer = await ready(ports).request(origin, value);
  return answer.kind === 'refusal' ? refusedReply(answer) : json(answer.status, { results: answer.results });
}

function tell({ params, query }: RouteRequest, ports: ApproverPorts): Reply {
  const range = recordRange(query);
  if (typeof range === 'string') return problem('bad-request', range);
  const answer = ready(ports).life(params['eventId'] ?? '', range);
  return 'kind' in answer ? refusedReply(answer) : json(200, answer);
}
