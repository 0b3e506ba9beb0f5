// The consumer library's error class and its closed list of codes (docs/receive/consumer.md).

export const CONSUMER_ERROR_CODES = [
  'usage',
  'unauthorized',
  'source',
  'not-a-cloudevent',
  'unsupported-media-type',
  'too-large',
  'body-read',
  'handled-elsewhere',
  'closed',
  'state',
  'refused',
  'unreachable',
  'not-sent',
  'pruned',
] as const;

export type ConsumerErrorCode = (typeof CONSUMER_ERROR_CODES)[number];

interface ConsumerErrorDetails {
  readonly cause?: unknown;
  readonly type?: string;
  readonly status?: number;
}

/** What the library throws. Its message says what failed and what to do; it holds no secret and nothing of a message. */
export class ConsumerError extends Error {
  override readonly name = 'ConsumerError';
  readonly code: ConsumerErrorCode;
  /** Of `refused`: the bridge's own word, such as `changed` or `scope` (docs/approve/approvals.md lists them). */
  readonly type: string | undefined;
  /** Of `refused` and `unreachable`: the status that the bridge answered, where it did. */
  readonly status: number | undefined;

  constructor(code: ConsumerErrorCode, message: string, details: ConsumerErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.type = details.type;
    this.status = details.status;
  }
}
