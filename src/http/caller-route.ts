// GET /v1/caller: who calls, and what the bridge lets them do (behaviour 11.23).

import type { Access } from './access.ts';
import type { AdminPorts } from './admin.ts';
import * as api from './openapi/operation.ts';
import { type ApiRoute, json, type Reply, type RouteRequest } from './route.ts';

export function callerRoute({ isAdmin }: Pick<AdminPorts, 'isAdmin'>, access: Access): ApiRoute {
  return {
    method: 'GET',
    path: '/v1/caller',
    callers: 'readers',
    operation: GET_CALLER,
    handle: (request) => tell(request, isAdmin, access),
  };
}

/** A proof is judged even where none is needed for reading: a wrong token is found out before something is to be done with it. */
async function tell(request: RouteRequest, isAdmin: AdminPorts['isAdmin'], access: Access): Promise<Reply> {
  if (!request.headers.authorization && request.certificate() === null) {
    return (await access.refuseReading(request)) ?? json(200, { name: null, role: null, admin: false });
  }
  const caller = await access.identify(request);
  if (!('kind' in caller)) return caller;
  const { kind: role, name } = caller;
  return json(200, { name, role, admin: role === 'approver' && isAdmin(name) });
}

const CALLER = api.named(
  'Caller',
  api.object({ name: api.textOrNull, role: { enum: ['approver', 'reader', null] }, admin: { type: 'boolean' } }),
);

const GET_CALLER: api.Operation = {
  operationId: 'getCaller',
  tag: 'events',
  summary: 'Who calls, and what they may: a token or certificate is judged even where reading needs none.',
  answers: { 200: api.jsonAnswer('The caller.', CALLER, { name: 'orders', role: 'approver', admin: true }) },
};
