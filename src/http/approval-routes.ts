// Approvers' requests → POST /v1/approvals; what became of an event's approval → GET /v1/approvals/EVENT_ID (behaviour 6.1).
import type { Access } from './access.ts';
import { hearApprover, refusedReply } from './approver.ts';
import type { ApprovalPorts } from './bridge-ports.ts';
import { problem } from './problem.ts';
import { recordRange } from './record-range.ts';
import { json, type Reply, type Route, type RouteRequest } from './route.ts';

export function approvalRoutes(ports: ApprovalPorts, access: Access): readonly Route[] {
  return [
    { method: 'POST', path: '/v1/approvals', handle: (request) => approve(request, ports, access) },
    {
      method: 'GET',
      path: '/v1/approvals/:eventId',
      handle: async (request) => (await access.refuseReading(request)) ?? tell(request, ports),
    },
  ];
}

async function approve(request: RouteRequest, ports: ApprovalPorts, access: Access): Promise<Reply> {
  const heard = await hearApprover(request, ports, access);
  if ('reply' in heard) return heard.reply;
  const { caller, value } = heard;
  // A hold that is overheard would let an approval through, so nothing of such a body is taken.
  if (typeof value === 'object' && value !== null && ('Holds' in value || 'Releases' in value)) {
    const detail =
      'Approvals alone are taken here: hold by POST /v1/holds and release by DELETE /v1/holds/EVENT_ID; Holds and Releases are for sources.';
    return problem(400, 'bad-request', detail);
  }
  const answer = await ports.request(caller, value);
  return answer.kind === 'refusal' ? refusedReply(answer) : json(answer.status, { results: answer.results });
}

async function tell({ params, query }: RouteRequest, ports: ApprovalPorts): Promise<Reply> {
  const range = recordRange(query);
  if (typeof range === 'string') return problem(400, 'bad-request', range);
  const answer = await ports.life(params['eventId'] ?? '', range);
  return answer.kind === 'refusal' ? refusedReply(answer) : json(200, answer);
}
