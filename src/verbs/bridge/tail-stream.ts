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

/** @returns the exit code: 1 if the bridge rejects the reader, so that a retry is useless */
export async function tailStream(context: VerbContext, bridge: string, { sinceMs, changes, show }: Followed): Promise<number> {
  const { signal, deps, warn } = context;
  const url = bridgeUrl(context, bridge, '/');
  const headers: { readonly Authorization?: string } = text(context, 'token-env') === undefined ? {} : authorization(context);
  const refused = Promise.withResolvers<number>();
  /** Older CloudEvents were published before `--since`, or are already printed. By the bridge's clock once an event has arrived. */
  let fromMs = sinceMs ?? 0;
  let newestMs = sinceMs ?? deps.wallMs();
  let lastWarning = '';
  const onEvent = async (event: CloudEvent): Promise<void> => {
    const timeMs = Date.parse(event.time ?? '');
    lastWarning = '';
    if (timeMs < fromMs) return;
    await show(JSON.stringify(event));
    newestMs = timeMs;
  };
  const onError = (error: unknown): void => {
    if (signal.aborted) return;
    const warning = visibleLine(messageOf(error));
    if (warning !== lastWarning) warn(warning);
    lastWarning = warning;
    // The stream then starts again with everything that is kept.
    if (error instanceof ConsumerError && error.code === 'pruned') fromMs = newestMs;
    if (isFinal(error)) refused.resolve(EXIT.failed);
  };
  const after = sinceMs === null ? {} : { after: await positionBefore(context, sinceMs, { ...headers }, url) };
  const consumer: StreamConsumer = stream({
    url: url.href,
    ...(headers.Authorization !== undefined && { token: headers.Authorization.slice('Bearer '.length) }),
    // `bridgeUrl` has checked it.
    allowInsecure: true,
    ...after,
    ...(changes !== null && { changes }),
    // A prefix that no bridge uses: every event goes to `onOther`, whatever its type.
    dispatcher: createDispatcher({ onOther: onEvent }, { typePrefix: 'none' }),
    onError,
  });
  try {
    return await Promise.race([refused.promise, interrupted(context).then(() => EXIT.fine)]);
  } finally {
    await consumer.close();
  }
}

/** Whether a retry gets the same answer: a wrong token, no right to read, another program. */
function isFinal(error: unknown): boolean {
  return error instanceof ConsumerError && error.code === 'refused' && [400, 401, 403, 404].includes(error.status ?? 0);
}

/** Returns the position before the first CloudEvent since then; 0 (everything that is kept) if the journal cannot be read. */
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
