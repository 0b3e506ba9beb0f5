// A route and its callers → the same route, which admits only them and is handed what it needs.
import { readJsonBody } from './body.ts';
import type { Callers } from './callers.ts';
import type { ApiRoute, ApproverRoute, Route } from './route.ts';

export function admitting(route: ApiRoute, callers: Callers): Route {
  const { method, path } = route;
  return { method, path, handle: handlerOf(route, callers) };
}

function handlerOf(route: ApiRoute, callers: Callers): Route['handle'] {
  switch (route.callers) {
    case 'anyone':
      return route.handle;
    case 'readers':
      return async (request) => (await callers.refuseReading(request)) ?? route.handle(request);
    case 'named':
      return async (request) => {
        const caller = await callers.named(request);
        return caller !== null && 'reply' in caller ? caller.reply : route.handle({ ...request, caller });
      };
    default:
      return approverHandler(route, callers);
  }
}

/**
 * Judges the caller before the body is read, and again when it has arrived: a body may take 30 s, and a right that was
 * revoked meanwhile no longer counts (behaviour 6.6). A route that waits for anything else before it records must call
 * `readmit`. Answers with the problem of the caller, or 415, 413 or 400 for the body, in this order.
 */
function approverHandler({ callers: kind, operation, handle }: ApproverRoute, callers: Callers): Route['handle'] {
  return async (request) => {
    const readmit = () => (kind === 'admins' ? callers.admin(request) : callers.approver(request));
    const early = await readmit();
    if ('reply' in early) return early.reply;
    if (operation.requestBody === undefined) return handle({ ...request, origin: early, value: undefined, readmit });
    const body = await readJsonBody(request);
    const origin = await readmit();
    if ('reply' in origin) return origin.reply;
    return 'reply' in body ? body.reply : handle({ ...request, origin, value: body.value, readmit });
  };
}
