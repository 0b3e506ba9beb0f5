// Idle bridges: no approvals, twenty rules, JSON Web Tokens → what each costs in the same minute.

import { AUDIENCE, ISSUER, Issuer } from '../far-sides/token-issuer.ts';
import type { Program } from '../support/program.ts';
import { urlOf } from '../support/running-bridge.ts';
import { BridgeBetween } from './bridge-between.ts';
import type { Row } from './figures.ts';
import { idleBeside } from './idle-beside.ts';
import { TWENTY_RULES } from './twenty-rules.ts';

export async function approvalsIdle(): Promise<readonly Row[]> {
  await using folder = await BridgeBetween.start();
  const issuer = new Issuer();
  await issuer.addKey('one', 'RS256');
  const jwt = { issuer: ISSUER, audience: AUDIENCE, jwks: { file: folder.secret(issuer.keySet()) } };
  const withJwt = { approvals: { policy: TWENTY_RULES, jwt, approvers: { orders: { subject: 'orders' } } } };
  return await idleBeside([
    { name: 'no approvals', sections: {} },
    { name: 'policy of 20 rules', sections: { approvals: { policy: TWENTY_RULES } } },
    { name: '20 rules, jwt, no JWT yet', sections: withJwt },
    {
      name: '20 rules, jwt, after the first',
      sections: withJwt,
      prepare: async (bridge) => show(bridge, await issuer.token(Date.now())),
    },
  ]);
}

/** The event of the request is unknown: what matters here is that it was seen to be the approver's. */
async function show(bridge: Program, token: string): Promise<void> {
  const body = JSON.stringify({ StartRequests: [{ EventId: 'C7061BAC-0000-4513-B24B-AA5F13A16123' }] });
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const { status } = await fetch(`${urlOf(bridge)}/v1/approvals`, { method: 'POST', headers, body });
  if (status !== 404) throw new Error(`the JWT was answered ${status}`);
}
