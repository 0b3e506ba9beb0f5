// GET /v1/caller: who calls, and what the bridge lets them do (behaviour 11.23).
import type { KnownCallers } from './callers.ts';
import * as api from './openapi/operation.ts';
import { type ApiRoute, json } from './route.ts';

/** A proof is judged even if reading needs none: so a caller finds out that its token is wrong before it needs it. */
export function callerRoute(callers: Pick<KnownCallers, 'isAdmin'>): ApiRoute {
  return {
    method: 'GET',
    path: '/v1/caller',
    callers: 'named',
    operation: GET_CALLER,
    handle: ({ caller }) => {
      if (caller === null) return json(200, { name: null, role: null, admin: false });
      const { kind: role, name } = caller;
      return json(200, { name, role, admin: role === 'approver' && callers.isAdmin(name) });
    },
  };
}

const CALLER = api.shape('Caller', {
  name: api.textOrNull,
  role: { enum: ['approver', 'reader', null] },
  admin: { type: 'boolean' },
});

const GET_CALLER: api.ApiOperation = {
  operationId: 'getCaller',
  tag: 'events',
  summary: 'Returns who calls and what they may do. A token or certificate is checked even if reading needs none.',
  answers: { 200: api.jsonAnswer('The caller.', CALLER, { name: 'orders', role: 'approver', admin: true }) },
};
