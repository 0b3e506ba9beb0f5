// --bridge → the CloudEvents of its stream in order, over every break of the connection.
import { type CloudEvent, ConsumerError, createDispatcher, type StreamConsumer, stream } from '../../consumer.ts';
import { messageOf } from '../../errors.ts';
import { toRfc3339 } from '../../formats/dates.ts';
import { visibleLine } from '../../formats/visible-text.ts';
import { deadline } from '../../time/clock.ts';
import { EXIT, interrupted, text, type VerbContext } from '../verb.ts';
import { askBridge, authorization, bridgeUrl } from './bridge-client.ts';
import type { Followed } from './followed.ts';

const TIMEOUT_MS = 5000;

/** The exit code: 1 where the bridge refuses the reader, for which asking again is no help. */
export async function tailStream(context: VerbContext, bridge: string, { sinceMs, changes, show }: Followed): Promise<number> {
  const { signal, deps, tell } = context;
  const url = bridgeUrl(context, bridge, '/');
  const headers: { readonly Authorization?: string } = text(context, 'token-env') === undefined ? {} : authorization(context);
  const refused = Promise.withResolvers<number>();
  /** What is older was published before, or was printed: by the bridge's clock, once something came. */
  let fromMs = sinceMs ?? 0;
  let newestMs = sinceMs ?? deps.wallMs();
  let told = '';
  const onEvent = async (event: CloudEvent): Promise<void> => {
    const timeMs = Date.parse(event.time ?? '');
    told = '';
    if (timeMs < fromMs) return;
    await show(JSON.stringify(event));
    newestMs = timeMs;
  };
  const onError = (error: unknown): void => {
    if (signal.aborted) return;
    const words = visibleLine(messageOf(error));
    if (words !== told) tell(words);
    told = words;
    // All that is kept comes then.
    if (error instanceof ConsumerError && error.code === 'pruned') fromMs = newestMs;
    if (isFinal(error)) refused.resolve(EXIT.failed);
  };
  const after = sinceMs === null ? {} : { after: await positionBefore(context, sinceMs, { ...headers }, url) };
  const consumer: StreamConsumer = stream({
    url: url.href,
    ...(headers.Authorization !== undefined && { token: headers.Authorization.slice('Bearer '.length) }),
    // As `bridgeUrl` has judged it.
    allowInsecure: true,
    ...after,
    ...(changes !== null && { changes }),
    // Of no bridge: every event is printed, whatever its type.
    dispatcher: createDispatcher({ onOther: onEvent }, { typePrefix: 'none' }),
    onError,
  });
  try {
    return await Promise.race([refused.promise, interrupted(context).then(() => EXIT.fine)]);
  } finally {
    await consumer.close();
  }
}

/** What the bridge will say again: a wrong token, no right to read, another program's answer. */
function isFinal(error: unknown): boolean {
  return error instanceof ConsumerError && error.code === 'refused' && [400, 401, 403, 404].includes(error.status ?? 0);
}

/** Where the stream has to begin; 0, for all that is kept, where the journal does not tell: what is older is passed over. */
async function positionBefore(context: VerbContext, sinceMs: number, headers: Readonly<Record<string, string>>, base: URL) {
  const limit = deadline(context.deps, TIMEOUT_MS, () => new Error('too late'), context.signal);
  try {
    const url = new URL(`/v1/journal?limit=1&since=${toRfc3339(sinceMs)}`, base);
    const { body } = await askBridge({ method: 'GET', url, headers }, limit.signal);
    const { items } = JSON.parse(body) as { items?: readonly { position: number }[] };
    return (items?.[0]?.position ?? 1) - 1;
  } catch {
    context.signal.throwIfAborted();
    return 0;
  } finally {
    limit.cancel();
  }
}
