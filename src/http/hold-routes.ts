// POST /v1/holds and DELETE /v1/holds/EVENT_ID (behaviour 8.8).
import { parseHold } from '../approvals/requests/hold-requests.ts';
import { parseInstant } from '../formats/dates.ts';
import type { Access } from './access.ts';
import { admitWithBody } from './admit-with-body.ts';
import { type ApproverPorts, admitApprover, ready, refusedReply } from './approver.ts';
import { problem } from './problem.ts';
import { json, NO_CONTENT, type Reply, type Route, type RouteRequest } from './route.ts';

export function holdRoutes(ports: ApproverPorts, access: Access): readonly Route[] {
  return [
    { method: 'POST', path: '/v1/holds', handle: (request) => hold(request, ports, access) },
    { method: 'DELETE', path: '/v1/holds/:eventId', handle: (request) => release(request, ports, access) },
  ];
}

async function hold(request: RouteRequest, ports: ApproverPorts, access: Access): Promise<Reply> {
  const admit = () => admitApprover(request, ports, access);
  const early = await admitWithBody(request, admit);
  if ('reply' in early) return early.reply;
  const asked = parseHold(early.value);
  if (typeof asked !== 'string') await ports.approvals()?.answered(asked.eventId);
  const admitted = await admit();
  if ('reply' in admitted) return admitted.reply;
  const answer = ready(ports).hold(admitted.origin, early.value);
  return answer.kind === 'refusal' ? refusedReply(answer) : json(answer.status, answer.hold);
}

async function release(request: RouteRequest, ports: ApproverPorts, access: Access): Promise<Reply> {
  const admit = () => admitApprover(request, ports, access);
  const early = await admit();
  if ('reply' in early) return early.reply;
  const holders = request.query.getAll('approver');
  if (holders.length > 1 || holders[0] === '')
    return problem('bad-request', 'Name one approver in ?approver=NAME, or leave it out: then it is your own hold.');
  const [before, ...more] = request.query.getAll('before');
  const beforeMs = before === undefined ? null : parseInstant(before);
  if (more.length > 0 || (before !== undefined && beforeMs === null))
    return problem('bad-request', 'Give ?before= one time as in RFC 3339, such as 2026-01-01T00:00:00.000Z, or leave it out.');
  const eventId = request.params['eventId'] ?? '';
  await ports.approvals()?.answered(eventId);
  // The wait may take 2 s, in which a right may be revoked.
  const admitted = await admit();
  if ('reply' in admitted) return admitted.reply;
  const answer = ready(ports).release(admitted.origin, eventId, holders[0] ?? null, beforeMs);
  return answer.kind === 'refusal' ? refusedReply(answer) : NO_CONTENT;
}
