// A request and the judgement of its caller → who calls and its JSON body, or the first problem.
import { readJsonBody } from './body.ts';
import type { Reply, RouteRequest } from './route.ts';

export type Refused = { readonly reply: Reply };

export function isRefused<Admitted extends object>(admission: Admitted | Refused): admission is Refused {
  return 'reply' in admission;
}

/**
 * Calls `admit` before the body is read, and again when it is there: a body may take 30 s, and a right that was revoked meanwhile no longer
 * counts (behaviour 6.6). The caller must record without waiting for anything else, or call `admit` again.
 * @returns what `admit` returned last, with the body's value; or the problem of `admit`, 415, 413 or 400, in this order
 */
export async function admitWithBody<Admitted extends object>(
  request: RouteRequest,
  admit: () => Promise<Admitted | Refused>,
): Promise<(Admitted & { readonly value: unknown }) | Refused> {
  const early = await admit();
  if (isRefused(early)) return early;
  const body = await readJsonBody(request);
  const admitted = await admit();
  if (isRefused(admitted)) return admitted;
  return isRefused(body) ? body : { ...admitted, value: body.value };
}
