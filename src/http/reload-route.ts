// POST /v1/reload: an admin → the configuration read again, or why it is not (behaviour 11.1).
import type { Fault } from '../schema/faults.ts';
import * as api from './openapi/operation.ts';
import { type ApiRoute, type ApproverRequest, json, problem, type Reply } from './route.ts';

/** The outcome of a reload; only `applied` has changed anything. */
export type ReloadOutcome =
  | { readonly kind: 'applied'; readonly changed: readonly string[] }
  | { readonly kind: 'faulty'; readonly faults: readonly Fault[] }
  | { readonly kind: 'needs-restart'; readonly restart: readonly string[] }
  | { readonly kind: 'no-file' }
  | NotAllowed;

/** The right was revoked while the request waited for reloads before it. */
export interface NotAllowed {
  readonly kind: 'not-allowed';
  readonly reply: Reply;
}

export interface ReloadPorts {
  /**
   * @param by the approver's name, for the log
   * @param refusal called when the reloads before it are done; a reply: `not-allowed`, and the configuration is not
   * read for this request
   * @throws BridgeError BRIDGE_STORE_*, and then nothing has changed
   */
  readonly reload: (by: string, refusal: () => Promise<Reply | null>) => Promise<ReloadOutcome>;
}

export function reloadRoute(ports: ReloadPorts): ApiRoute {
  return {
    method: 'POST',
    path: '/v1/reload',
    callers: 'admins',
    operation: RELOAD,
    handle: (request) => reload(request, ports),
  };
}

async function reload({ origin, readmit }: ApproverRequest, ports: ReloadPorts): Promise<Reply> {
  const outcome = await ports.reload(origin.approver, async () => {
    const admitted = await readmit();
    return 'reply' in admitted ? admitted.reply : null;
  });
  return outcome.kind === 'not-allowed' ? outcome.reply : replyTo(outcome);
}

function replyTo(outcome: Exclude<ReloadOutcome, NotAllowed>): Reply {
  if (outcome.kind === 'applied') return json(200, { changed: outcome.changed });
  if (outcome.kind === 'faulty') {
    const { faults } = outcome;
    const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
    return problem(
      'faulty-configuration',
      `The configuration has ${count}; nothing was changed. Correct the file and reload again.`,
      {},
      { faults },
    );
  }
  if (outcome.kind === 'no-file') return problem('no-file', 'The bridge was started without a configuration file.');
  const { restart } = outcome;
  const detail = `A restart is needed for ${restart.join(', ')}; nothing was changed. Restart the bridge, or undo these changes.`;
  return problem('needs-restart', detail, {}, { restart });
}

const RELOAD: api.ApiOperation = {
  operationId: 'reload',
  tag: 'operation',
  summary: 'Reads the configuration file again and applies what has changed.',
  description:
    'For approvers with `admin: true`. The whole file is checked first. If it has a fault, or a change that needs a restart, nothing is applied. Reloads run one after another. Requests that wait for the same reload get the same answer.',
  answers: {
    200: api.jsonAnswer(
      'Applied. The paths that have changed; none if the file is the same.',
      api.shape('Reloaded', { changed: api.names }),
      { changed: ['sinks.hooks.url', 'approvals.policy'] },
    ),
  },
  problems: ['faulty-configuration', 'needs-restart', 'no-file'],
};
