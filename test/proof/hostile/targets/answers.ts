// Answers of sinks' receivers, token issuers and Kubernetes → verdicts, judged by the answer alone.
import { bulkOutcomes } from '../../../../adapters/elasticsearch/bulk-answer.ts';
import { AnswerFaults } from '../../../../adapters/http/answer-faults.ts';
import { SINK_CODES } from '../../../../adapters/http/failures.ts';
import { readToken } from '../../../../adapters/http/oauth/token-answer.ts';
import { kubeconfigFault } from '../../../../adapters/kubernetes/access/kubeconfig.ts';
import { type KubernetesNode, readNode, readPods } from '../../../../adapters/kubernetes/api/objects.ts';
import { patchOf, prepared, restored } from '../../../../adapters/kubernetes/node/node-change.ts';
import { MARKS } from '../../../../adapters/kubernetes/node/record.ts';
import { budgetOf, isNamespaceEnding, waitText } from '../../../../adapters/kubernetes/pods-left.ts';
import { readFailure, readSuccess } from '../../../../adapters/otlp/export-answer.ts';
import { collectorFault, readAnswer } from '../../../../adapters/splunk/collector-answer.ts';
import { BridgeError } from '../../../../src/errors.ts';
import { isRecord, jsonOf, lost, type Target, type Verdict } from '../target.ts';

const PLACE = { codes: SINK_CODES, sink: 's', target: 'https://e', key: 'url', credentials: 'headers' };
const FAULTS = new AnswerFaults(PLACE, () => 0);
const IDS = ['a', 'b', 'c'];
const json = (...values: readonly unknown[]) => values.map((value) => Buffer.from(JSON.stringify(value)));
const answer = (body: Buffer) => ({ status: 200, headers: {}, body });

const item = (status: number, id: string, more = {}) => ({ create: { _index: 'i', _id: id, status, ...more } });
const BULK = json(
  { took: 3, errors: false, items: IDS.map((id) => item(201, id, { _shards: { total: 2, successful: 1 } })) },
  {
    errors: true,
    items: [
      item(409, 'a'),
      item(400, 'b', { error: { type: 'mapper_parsing_exception', reason: 'r' } }),
      item(429, 'c'),
    ],
  },
);

/** A member is accepted only if the answer says so for it. */
function judgeBulk(input: Buffer, output: unknown): Verdict {
  const body = jsonOf(input) ?? JSON.parse(input.toString());
  const items = isRecord(body) && Array.isArray(body['items']) ? body['items'] : [];
  for (const [index, outcome] of (output as readonly unknown[]).entries()) {
    const [result] = isRecord(items[index]) ? Object.values(items[index]) : [];
    const status = isRecord(result) ? Number(result['status']) : 0;
    const isGood =
      isRecord(result) && ((status >= 200 && status <= 299 && (result['error'] ?? null) === null) || status === 409);
    if ((outcome === 'accepted') !== isGood) return lost(`item ${index} counts as ${String(outcome)}`);
    if (isGood && isRecord(result) && (result['_id'] ?? IDS[index]) !== IDS[index])
      return 'the item of another document';
  }
  return (output as readonly unknown[]).length === IDS.length ? null : 'another number of outcomes';
}

const NODE = {
  metadata: {
    ...{ name: 'node-1', uid: 'u', resourceVersion: '7', labels: { a: 'b' } },
    annotations: {
      'scheduled-events-bridge.github.io/prepared': JSON.stringify({
        events: [{ key: 'k', type: 'Reboot' }],
        did: ['taint', 'cordon', 'condition'],
      }),
    },
  },
  spec: {
    unschedulable: true,
    providerID: 'azure:///subscriptions/s',
    taints: [
      { key: 'other', effect: 'NoExecute', value: 'v' },
      { key: 'scheduled-events-bridge.github.io/maintenance', effect: 'NoSchedule', value: 'reboot' },
    ],
  },
  status: { conditions: [{ type: 'Ready', status: 'True', reason: 'r', message: 'm' }] },
};
const POD = {
  metadata: {
    name: 'db-0',
    namespace: 'web',
    uid: 'u',
    ownerReferences: [{ kind: 'StatefulSet', controller: true, uid: 'o' }],
  },
  spec: { volumes: [{ emptyDir: {} }], terminationGracePeriodSeconds: 30 },
  status: { phase: 'Running' },
};
const EVICTION = {
  details: { causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget db needs 2 healthy pods' }] },
};
const OWN_TAINT = 'scheduled-events-bridge.github.io/maintenance';

function nodeChanges(input: Buffer) {
  const value = jsonOf(input);
  const node = isRecord(value) ? readNode(value) : null;
  if (node === null) return null;
  const event = { key: 'c7061bac', type: 'Redeploy' };
  const changes = [...MARKS.map((mark) => prepared(node, mark, event, ['ScheduledEvent'])), restored(node, 'k')];
  return { node, changes, patches: changes.map((change) => change && JSON.stringify(patchOf(node, change))) };
}

/** The taints of others stay as they are, in every change. */
function judgeNode(_: Buffer, output: unknown): string | null {
  if (output === null) return null;
  const { node, changes } = output as {
    node: KubernetesNode;
    changes: readonly ({ taints?: KubernetesNode['taints'] } | null)[];
  };
  const others = JSON.stringify(node.taints.filter(({ key }) => key !== OWN_TAINT));
  const isKept = changes.every(
    (change) =>
      change?.taints === undefined || JSON.stringify(change.taints.filter(({ key }) => key !== OWN_TAINT)) === others,
  );
  return isKept ? null : 'a taint of others was changed';
}

const OTLP = [
  Buffer.from([0x0a, 0x06, 0x08, 0x02, 0x12, 0x02, 0x6e, 0x6f]),
  Buffer.from([0x08, 0x03, 0x12, 0x03, 0x62, 0x61, 0x64]),
];

export const ANSWER_TARGETS: readonly Target[] = [
  {
    name: 'answer to a bulk request',
    kind: 'answer of a far side',
    material: { samples: BULK },
    run: (input) => bulkOutcomes(answer(input), { ids: IDS, pipeline: 'p' }, FAULTS),
    judge: judgeBulk,
  },
  {
    name: 'answer of a Splunk collector',
    kind: 'answer of a far side',
    material: {
      samples: json(
        { text: 'Success', code: 0, ackId: 4 },
        { text: 'no', code: 6, 'invalid-event-number': 1 },
        { acks: { 0: true } },
      ),
    },
    run: (input) => ({ fault: collectorFault(answer(input), FAULTS, true), read: readAnswer(answer(input)) }),
    judge: (input, output) => {
      const { fault } = output as { fault: unknown };
      const body = jsonOf(input) ?? lenient(input);
      return fault === null && !(isRecord(body) && body['code'] === 0) ? lost('accepted without code 0') : null;
    },
  },
  {
    name: 'answer of an OTLP receiver',
    kind: 'answer of a far side',
    material: {
      samples: [
        ...json({ partialSuccess: { rejectedLogRecords: '2', errorMessage: 'no' } }, {}, { code: 14, message: 'm' }),
        ...OTLP,
      ],
    },
    run: (input) => ({ success: readSuccess(input), failure: readFailure(input) }),
    judge: (_, output) => {
      const { success, failure } = output as { success: { rejected: number } | null; failure: string };
      if (failure.length > 4096) return 'a long message';
      return success === null || Number.isInteger(success.rejected) ? null : 'a count that is no number';
    },
  },
  {
    name: 'answer of a token issuer',
    kind: 'answer of a far side',
    material: {
      samples: json({ access_token: 'abc.def', token_type: 'Bearer', expires_in: 3600 }, { error: 'invalid_client' }),
    },
    run: (input) => [200, 400, 503].map((status) => readToken({ ...answer(input), status }, PLACE, 0)),
    judge: (input, output) => {
      for (const token of output as readonly (BridgeError | { token: string; lifetimeMs: number })[]) {
        if (token instanceof BridgeError) continue;
        const body = jsonOf(input) ?? lenient(input);
        if (!isRecord(body) || body['access_token'] !== token.token) return 'another token';
        if (/[^\x21-\x7e]/.test(token.token) || !(token.lifetimeMs >= 0 && token.lifetimeMs <= 86_400_000))
          return 'not a token';
      }
      return null;
    },
  },
  {
    name: 'node of Kubernetes',
    kind: 'answer of Kubernetes',
    material: { samples: json(NODE) },
    run: nodeChanges,
    judge: judgeNode,
  },
  {
    name: 'pods and evictions',
    kind: 'answer of Kubernetes',
    material: { samples: json({ items: [POD, POD], metadata: { continue: 'c' } }, EVICTION) },
    run: (input) => {
      const value = jsonOf(input);
      if (!isRecord(value)) return null;
      const pods = readPods(value)?.pods ?? [];
      return [
        ...[budgetOf(value), isNamespaceEnding(value)],
        waitText(pods.map((pod) => ({ pod, status: 429, budget: budgetOf(value) }))),
      ];
    },
  },
  {
    name: 'kubeconfig',
    kind: 'configuration',
    material: {
      samples: json({
        'current-context': 'h',
        contexts: [{ name: 'h', context: { cluster: 'c', user: 'u' } }],
        clusters: [{ name: 'c', cluster: { server: 'https://k:6443', 'certificate-authority-data': 'YQ==' } }],
        users: [{ name: 'u', user: { token: 't' } }],
      }),
      form: 'text',
    },
    run: (input) => kubeconfigFault(input.toString()),
    judge: (_, output) =>
      output === null || (typeof output === 'string' && output.length < 500) ? null : 'a long fault',
  },
];

/** JSON of bytes that are not UTF-8, as `Buffer.toString` decodes them. */
function lenient(input: Buffer): unknown {
  try {
    return JSON.parse(input.toString());
  } catch {
    return undefined;
  }
}
