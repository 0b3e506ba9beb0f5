// A transport and a pause → Microsoft's advanced sample, transcribed from docs/develop/protocol.md.
import type { MetadataTransport } from '../../src/metadata/transport.ts';
import { type Deps, sleep } from '../../src/time/clock.ts';

const URL = 'http://169.254.169.254/metadata/scheduledevents?api-version=2020-07-01';

interface ListedEvent {
  readonly EventId: string;
  readonly EventType: string;
  readonly EventStatus: string;
  readonly EventSource: string;
  readonly DurationInSeconds: number;
}

export interface SampleParts {
  readonly service: MetadataTransport;
  readonly deps: Pick<Deps, 'after'>;
  /** Between two looks. */
  readonly pauseMs: number;
}

/**
 * Looks until it is aborted. It remembers the last incarnation and nothing else: each event of a new document is judged
 * anew, with one POST for each that is approved, whose answer it does not mind. An answer that is no document, on which
 * the page's own script would end, says nothing.
 */
export async function watchAsDocumented({ service, deps, pauseMs }: SampleParts, signal: AbortSignal): Promise<void> {
  let lastIncarnation: number | null = null;
  while (!signal.aborted) {
    const document = documentIn(await ask(service, signal));
    if (document !== null && document.DocumentIncarnation !== lastIncarnation) {
      for (const event of document.Events) {
        if (isApproved(event))
          await ask(service, signal, JSON.stringify({ StartRequests: [{ EventId: event.EventId }] }));
      }
      lastIncarnation = document.DocumentIncarnation;
    }
    await sleep(deps, pauseMs, signal).catch(() => {});
  }
}

function isApproved({ EventStatus, EventSource, EventType, DurationInSeconds }: ListedEvent): boolean {
  // What has started is only logged.
  if (EventStatus === 'Started') return false;
  if (EventSource === 'User') return true;
  return EventType === 'Freeze' && DurationInSeconds >= 0 && DurationInSeconds < 9;
}

/** The text of a 200; null for anything else. */
async function ask(service: MetadataTransport, signal: AbortSignal, body?: string): Promise<string | null> {
  const request = {
    method: body === undefined ? 'GET' : 'POST',
    url: URL,
    headers: { Metadata: 'true' },
    timeoutMs: 10_000,
  } as const;
  try {
    const answer = await service({ ...request, ...(body !== undefined && { body }) }, signal);
    return answer.status === 200 ? new TextDecoder().decode(answer.body) : null;
  } catch {
    return null;
  }
}

function documentIn(
  text: string | null,
): { readonly DocumentIncarnation: number; readonly Events: readonly ListedEvent[] } | null {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
