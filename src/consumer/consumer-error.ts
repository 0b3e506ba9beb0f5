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

/**
 * An error of the library. Its message says what failed and what to do; it has no secrets and nothing from a message.
 */
export class ConsumerError extends Error {
  override readonly name = 'ConsumerError';
  readonly code: ConsumerErrorCode;
  /**
   * For `refused`: the `type` of the bridge's problem, such as `changed` or `scope` (docs/approve/approvals.md lists
   * them).
   */
  readonly type: string | undefined;
  /** For `refused` and `unreachable`: the status of the bridge's answer, if there was one. */
  readonly status: number | undefined;

  constructor(code: ConsumerErrorCode, message: string, details: ConsumerErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.type = details.type;
    this.status = details.status;
  }
}
