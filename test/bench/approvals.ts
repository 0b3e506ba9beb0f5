// A simulator and a bridge → how long approvals take on their way to the metadata service, and what a policy and JSON Web Tokens cost while nothing happens.
import { byRequest, released } from './approvals-by-request.ts';
import { byRule, manyByRule } from './approvals-by-rule.ts';
import { approvalsIdle } from './approvals-idle.ts';
import type { Row } from './figures.ts';

export async function approvals(): Promise<readonly Row[]> {
  return [...(await byRule()), ...(await manyByRule()), ...(await byRequest()), ...(await released()), ...(await approvalsIdle())];
}
