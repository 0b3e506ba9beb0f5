// A simulator and a bridge → how long approvals take, and what approvals cost while idle.
import { byRequest, released } from './approvals-by-request.ts';
import { byRule, manyByRule } from './approvals-by-rule.ts';
import { approvalsIdle } from './approvals-idle.ts';
import type { Row } from './figures.ts';

export async function approvals(): Promise<readonly Row[]> {
  return [
    ...(await byRule()),
    ...(await manyByRule()),
    ...(await byRequest()),
    ...(await released()),
    ...(await approvalsIdle()),
  ];
}
