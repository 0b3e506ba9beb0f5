// `tail`: a bridge's stream, or its store → each published CloudEvent on standard output.
import { type CloudEvent, ConsumerError, createDispatcher, type StreamConsumer, stream } from '../../consumer.ts';
import { messageOf } from '../../errors.ts';
import { toRfc3339 } from '../../formats/dates.ts';
import { visibleLine } from '../../formats/visible-text.ts';
import { toText } from '../../log-record/formats.ts';
import { logRecord } from '../../log-record/log-record.ts';
import { CHANGE_NAMES } from '../../model/change-names.ts';
import { sleep } from '../../time/clock.ts';
import { withStoreToRead } from '../store.ts';
import {
  type Colour,
  EXIT,
  interrupted,
  optionText,
  optionTime,
  usageError,
  type Verb,
  type VerbContext,
} from '../verb.ts';
import { askBridge, authorization, BRIDGE_OPTIONS, bridgeOrFile, bridgeUrl, DEFAULT_BRIDGE } from './bridge-client.ts';

const COLOURS: Readonly<Record<string, Colour>> = { WARN: 'yellow', ERROR: 'red' };

export const tailVerb: Verb = {
  usage: '[--since TIME] [--changes A,B] [--json] [--wait] [--bridge URL [--token-env NAME] | --config FILE]',
  description: `Prints each published CloudEvent until it is interrupted: one readable line on a terminal, otherwise (or with --json) the CloudEvent on one line.
With --bridge it reads the bridge's stream, and continues after the last printed event if the connection breaks. If the first connection fails,
it exits with 1, or keeps trying with --wait. With --config it reads the store, whether the bridge is running or not; no secret of the configuration is read. The default is http://127.0.0.1:8700.
TIME is RFC 3339 (2026-11-21T10:00:00Z) or a duration ago (90m, 2d), back to store.retain. Without --since it prints only new CloudEvents.`,
  options: {
    since: { type: 'string', value: 'TIME', help: 'starts with what was published since then' },
    changes: { type: 'string', value: 'A,B', help: `only these: ${CHANGE_NAMES.join(', ')}` },
    json: { type: 'boolean', help: 'prints CloudEvents on a terminal, too' },
    wait: { type: 'boolean', help: 'with --bridge: waits for a bridge that does not answer yet' },
    config: { type: 'string', value: 'FILE', help: 'the configuration, which names the store' },
    ...BRIDGE_OPTIONS,
  },
  examples: [
    ['scheduled-events-bridge tail --bridge http://127.0.0.1:8700 --since 1h', 'the last hour, then new CloudEvents'],
    [
      'scheduled-events-bridge tail --config bridge.yaml --since 7d --changes scheduled,started,ended',
      'from the store, without a bridge',
    ],
  ],
  async run(context) {
    const { bridge, file } = bridgeOrFile(context);
    const request = {
      sinceMs: optionTime(context, 'since') ?? null,
      changes: changesOption(context),
      show: printer(context),
    };
    if (file === undefined) return await followBridge(context, bridge ?? DEFAULT_BRIDGE, request);
    await followStore(context, file, request);
    return EXIT.fine;
  },
};

function changesOption(context: VerbContext): readonly string[] | null {
  const value = optionText(context, 'changes');
  if (value === undefined) return null;
  const names = value.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !CHANGE_NAMES.some((known) => known === name));
  if (unknown !== undefined) throw usageError(`--changes takes ${CHANGE_NAMES.join(', ')}, not "${unknown}"`);
  return names;
}

function printer({ stdout, values, print }: VerbContext): TailRequest['show'] {
  if (!stdout.isTTY || values['json'] === true) return print;
  return (json) => {
    const record = logRecord(Buffer.from(json));
    const drill = record.attributes['drill'] === true ? ' (a drill)' : '';
    return print(`${toText(record)}${drill}`, COLOURS[record.severity]);
  };
}

interface TailRequest {
  /** Null: what is published from now on. */
  readonly sinceMs: number | null;
  /** Null: all of them. */
  readonly changes: readonly string[] | null;
  /** The structured CloudEvent as JSON. Resolves once standard output has taken it. */
  readonly show: (json: string) => Promise<void>;
}

/** The longest delay of a row; a look at the store takes some microseconds. */
const LOOK_MS = 200;
/** The most rows, and bytes of their CloudEvents, that are read at once. */
const [ROWS, BYTES] = [32, 1024 * 1024];

/** Follows the journal until the signal aborts. @throws the signal's reason, or BridgeError BRIDGE_STORE_* */
function followStore(context: VerbContext, file: string, { sinceMs, changes, show }: TailRequest): Promise<never> {
  const { deps, signal, warn } = context;
  return withStoreToRead(context, file, async (outbox) => {
    const { journalPages } = outbox;
    const isWanted = ({ timeMs, change }: { timeMs: number; change: string }) =>
      timeMs >= (sinceMs ?? 0) && (changes === null || changes.includes(change));
    let pruned = journalPages.pruned();
    let position = sinceMs === null ? journalPages.newest() : 0;
    for (;;) {
      const read = () => journalPages.after(position, ROWS, BYTES);
      for (let page = read(); page.length > 0; page = read()) {
        for (const entry of page) {
          signal.throwIfAborted();
          if (isWanted(entry)) await show(Buffer.from(entry.bytes).toString());
          position = entry.position;
        }
        if (journalPages.pruned() > Math.max(position, pruned))
          warn('CloudEvents were pruned from the journal before they were read: some are missing here');
        pruned = journalPages.pruned();
      }
      while (!outbox.changedOutside()) await sleep(deps, LOOK_MS, signal);
    }
  });
}

const TIMEOUT_MS = 5000;

/** @returns the exit code: 1 if the first connection fails, or if the bridge rejects the reader: a retry is useless */
async function followBridge(
  context: VerbContext,
  bridge: string,
  { sinceMs, changes, show }: TailRequest,
): Promise<number> {
  const { signal, deps, warn } = context;
  const url = bridgeUrl(context, bridge, '/');
  const headers: { readonly Authorization?: string } =
    optionText(context, 'token-env') === undefined ? {} : authorization(context);
  const refused = Promise.withResolvers<number>();
  /**
   * Older CloudEvents were published before `--since`, or are already printed. By the bridge's clock once an event has
   * arrived.
   */
  let fromMs = sinceMs ?? 0;
  let newestMs = sinceMs ?? deps.wallMs();
  let lastWarning = '';
  let hasConnected = context.values['wait'] === true;
  const onEvent = async (event: CloudEvent): Promise<void> => {
    const timeMs = Date.parse(event.time ?? '');
    lastWarning = '';
    hasConnected = true;
    if (timeMs < fromMs) return;
    await show(JSON.stringify(event));
    newestMs = timeMs;
  };
  const onError = (error: unknown): void => {
    if (signal.aborted) return;
    if (isFinal(error) || (!hasConnected && isUnconnected(error, consumer))) {
      warn(finalWarning(url, error));
      refused.resolve(EXIT.failed);
      return;
    }
    hasConnected = true;
    const warning = visibleLine(messageOf(error));
    if (warning !== lastWarning) warn(warning);
    lastWarning = warning;
    // The stream then starts again with everything that is kept.
    if (error instanceof ConsumerError && error.code === 'pruned') fromMs = newestMs;
  };
  let after = {};
  try {
    if (sinceMs !== null) after = { after: await positionBefore(context, sinceMs, { ...headers }, url) };
  } catch (error) {
    signal.throwIfAborted();
    if (!hasConnected) {
      warn(noAnswer(url, error));
      return EXIT.failed;
    }
    after = { after: 0 };
  }
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

/** Whether this error is that of a first connection, which the bridge has not accepted. */
function isUnconnected(error: unknown, { position }: StreamConsumer): boolean {
  return error instanceof ConsumerError && (position === null || error.code === 'refused');
}

function finalWarning(url: URL, error: unknown): string {
  return error instanceof ConsumerError && error.code === 'unreachable'
    ? noAnswer(url, error.cause)
    : visibleLine(messageOf(error).replace('; retrying', ''));
}

function noAnswer({ origin }: URL, error: unknown): string {
  return visibleLine(`${origin} gave no answer of a bridge: ${messageOf(error)}; --wait waits for it`);
}

/**
 * Returns the position before the first CloudEvent since then; 0 (everything that is kept) if the journal cannot be
 * read. Rejects if no bridge answers.
 */
async function positionBefore(
  context: VerbContext,
  sinceMs: number,
  headers: Readonly<Record<string, string>>,
  base: URL,
): Promise<number> {
  const url = new URL(`/v1/journal?limit=1&since=${toRfc3339(sinceMs)}`, base);
  const { status, body } = await askBridge({ method: 'GET', url, headers }, context, TIMEOUT_MS);
  if (status !== 200) return 0;
  const { items } = JSON.parse(body) as { items?: readonly { position: number }[] };
  return (items?.[0]?.position ?? 1) - 1;
}
