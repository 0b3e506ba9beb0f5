// A bridge's /readyz and, for readers, its /v1 → the view of `status`.
import { isObject } from '../../formats/json-object.ts';
import { deadline } from '../../time/clock.ts';
import type { VerbContext } from '../verb.ts';
import { askBridge, type BridgeRequest } from './bridge-client.ts';
import type { ShownSink, StatusView } from './status-view.ts';

const TIMEOUT_MS = 5000;

type Ready = Pick<StatusView, 'ready' | 'reasons' | 'configuration'> & { readonly sinks: Readonly<Record<string, { state: string }>> };
type Events = Pick<StatusView, 'state' | 'documentIncarnation' | 'observedAt' | 'events'>;

/** Parts from `/v1` are null if this caller may not read them. Rejects if no bridge answers. */
export async function statusOfBridge(context: VerbContext, requestTo: (path: string) => BridgeRequest): Promise<StatusView> {
  const limit = deadline(context.deps, TIMEOUT_MS, () => new Error(`no answer within ${TIMEOUT_MS / 1000} s`), context.signal);
  const ask = (path: string): Promise<unknown> => askJson(requestTo(path), limit.signal);
  try {
    const [ready, events, sinks] = await Promise.all([ask('/readyz'), ask('/v1/events'), ask('/v1/sinks')]);
    if (!isReady(ready)) throw new Error('the answer of /readyz is not that of a bridge');
    return viewOf(context, ready, events as Events | null, sinks as readonly ShownSink[] | null);
  } finally {
    limit.cancel();
  }
}

function viewOf({ deps }: VerbContext, ready: Ready, events: Events | null, sinks: readonly ShownSink[] | null): StatusView {
  const observedAt = events?.observedAt ?? null;
  return {
    ready: ready.ready,
    reasons: ready.reasons,
    isRunning: true,
    from: events === null ? null : 'bridge',
    state: events?.state ?? null,
    documentIncarnation: events?.documentIncarnation ?? null,
    observedAt,
    documentAgeSeconds: observedAt === null ? null : Math.max(0, Math.round((deps.wallMs() - Date.parse(observedAt)) / 1000)),
    events: events?.events ?? null,
    sinks,
    sinkStates: Object.fromEntries(Object.entries(ready.sinks).map(([name, { state }]) => [name, state])),
    deadLetters: sinks === null ? null : sinks.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
    configuration: ready.configuration,
  };
}

/** Returns null for a caller without rights, or a listener without the route. */
async function askJson(request: BridgeRequest, signal: AbortSignal): Promise<unknown> {
  const { status, body } = await askBridge(request, signal);
  if ([401, 403, 404, 429].includes(status)) return null;
  const isAnswer = status === 200 || (status === 503 && String(request.url).endsWith('/readyz'));
  if (!isAnswer) throw new Error(`it answered ${status}`);
  return JSON.parse(body);
}

function isReady(value: unknown): value is Ready {
  return isObject(value) && typeof value['ready'] === 'boolean' && Array.isArray(value['reasons']) && isObject(value['sinks']);
}
