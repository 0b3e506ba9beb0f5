// BridgeError and its closed list of codes; docs/operate/errors.md explains each.

export const ERROR_CODES = [
  'BRIDGE_ADAPTER_CLOSED',
  'BRIDGE_APPROVALS_CLOSED',
  'BRIDGE_APPROVALS_EARLY',
  'BRIDGE_APPROVALS_NOT_READY',
  'BRIDGE_AZURE_REFUSED',
  'BRIDGE_AZURE_UNAVAILABLE',
  'BRIDGE_COMMAND_FAILED',
  'BRIDGE_COMMAND_MISCONFIGURED',
  'BRIDGE_COMMAND_REFUSED',
  'BRIDGE_COMMAND_TIMEOUT',
  'BRIDGE_COMMAND_TOO_LATE',
  'BRIDGE_CONFIG_INVALID',
  'BRIDGE_CONFIG_UNREADABLE',
  'BRIDGE_DELIVERY_FAILED',
  'BRIDGE_DELIVERY_OUTCOMES',
  'BRIDGE_DELIVERY_TIMEOUT',
  'BRIDGE_DELIVERY_UNENCODABLE',
  'BRIDGE_DRILL_FAILED',
  'BRIDGE_FILE_FAILED',
  'BRIDGE_FILE_MISCONFIGURED',
  'BRIDGE_HTTP_LISTEN',
  'BRIDGE_HTTP_TLS',
  'BRIDGE_INIT_WRITE',
  'BRIDGE_INTERNAL',
  'BRIDGE_JWT_FORBIDDEN_ADDRESS',
  'BRIDGE_JWT_KEYS',
  'BRIDGE_KAFKA_ADVERTISED',
  'BRIDGE_KAFKA_BROKEN',
  'BRIDGE_KAFKA_FORBIDDEN_ADDRESS',
  'BRIDGE_KAFKA_GROUP',
  'BRIDGE_KAFKA_INSECURE',
  'BRIDGE_KAFKA_MISCONFIGURED',
  'BRIDGE_KAFKA_NO_TOPIC',
  'BRIDGE_KAFKA_REFUSED',
  'BRIDGE_KAFKA_TIMEOUT',
  'BRIDGE_KAFKA_TLS',
  'BRIDGE_KAFKA_TLS_FILES',
  'BRIDGE_KAFKA_TOKEN',
  'BRIDGE_KAFKA_UNAUTHENTICATED',
  'BRIDGE_KAFKA_UNAUTHORIZED',
  'BRIDGE_KAFKA_UNAVAILABLE',
  'BRIDGE_KAFKA_UNREACHABLE',
  'BRIDGE_KAFKA_UNREADABLE',
  'BRIDGE_KUBERNETES_ACCESS',
  'BRIDGE_KUBERNETES_ANSWER',
  'BRIDGE_KUBERNETES_BROKEN',
  'BRIDGE_KUBERNETES_FORBIDDEN_ADDRESS',
  'BRIDGE_KUBERNETES_MISCONFIGURED',
  'BRIDGE_KUBERNETES_REFUSED',
  'BRIDGE_KUBERNETES_TIMEOUT',
  'BRIDGE_KUBERNETES_TLS',
  'BRIDGE_KUBERNETES_UNAVAILABLE',
  'BRIDGE_KUBERNETES_UNREACHABLE',
  'BRIDGE_METADATA_CLOSED',
  'BRIDGE_METADATA_INVALID',
  'BRIDGE_METADATA_STATUS',
  'BRIDGE_METADATA_TIMEOUT',
  'BRIDGE_METADATA_TOO_LARGE',
  'BRIDGE_METADATA_UNDISCOVERED',
  'BRIDGE_METADATA_UNREACHABLE',
  'BRIDGE_SERVICE_BUS_BROKEN',
  'BRIDGE_SERVICE_BUS_BUSY',
  'BRIDGE_SERVICE_BUS_ENTITY',
  'BRIDGE_SERVICE_BUS_PROXY',
  'BRIDGE_SERVICE_BUS_QUOTA',
  'BRIDGE_SERVICE_BUS_TIMEOUT',
  'BRIDGE_SERVICE_BUS_TLS',
  'BRIDGE_SERVICE_BUS_TLS_FILES',
  'BRIDGE_SERVICE_BUS_TOO_LARGE',
  'BRIDGE_SERVICE_BUS_UNAUTHORIZED',
  'BRIDGE_SERVICE_BUS_UNAVAILABLE',
  'BRIDGE_SERVICE_BUS_UNREACHABLE',
  'BRIDGE_SIMULATOR_CLOSED',
  'BRIDGE_SIMULATOR_LISTEN',
  'BRIDGE_SIMULATOR_RECORDING',
  'BRIDGE_SIMULATOR_REFUSED',
  'BRIDGE_SIMULATOR_SCENARIO',
  'BRIDGE_SIMULATOR_TIMEOUT',
  'BRIDGE_SINK_ANSWER',
  'BRIDGE_SINK_BROKEN',
  'BRIDGE_SINK_FORBIDDEN_ADDRESS',
  'BRIDGE_SINK_GONE',
  'BRIDGE_SINK_MISCONFIGURED',
  'BRIDGE_SINK_PROXY',
  'BRIDGE_SINK_REFUSED',
  'BRIDGE_SINK_TIMEOUT',
  'BRIDGE_SINK_TLS',
  'BRIDGE_SINK_TLS_FILES',
  'BRIDGE_SINK_TOKEN_REFUSED',
  'BRIDGE_SINK_TOKEN_UNAVAILABLE',
  'BRIDGE_SINK_UNAVAILABLE',
  'BRIDGE_SINK_UNREACHABLE',
  'BRIDGE_STDOUT_CLOSED',
  'BRIDGE_STDOUT_FAILED',
  'BRIDGE_STORE_DAMAGED',
  'BRIDGE_STORE_FAILED',
  'BRIDGE_STORE_FULL',
  'BRIDGE_STORE_LOCKED',
  'BRIDGE_STORE_MISSING',
  'BRIDGE_STORE_NEWER',
  'BRIDGE_STORE_SINK_UNKNOWN',
  'BRIDGE_STORE_UNSAFE',
  'BRIDGE_SYSLOG_BROKEN',
  'BRIDGE_SYSLOG_MISCONFIGURED',
  'BRIDGE_SYSLOG_REFUSED',
  'BRIDGE_SYSLOG_TIMEOUT',
  'BRIDGE_SYSLOG_TLS',
  'BRIDGE_SYSLOG_UNREACHABLE',
  'BRIDGE_USAGE',
  'BRIDGE_WEBHOOK_NO_CONSENT',
  'BRIDGE_WEBHOOK_TEMPLATE',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * What a failed delivery asks of its lane: `retry` with back-off; `misconfigured`: retry slowly and report; `retired`:
 * pause the sink; `refused`: dead-letter at once; `expired`: too late for it, a dead letter as `expired`.
 */
export type Disposition = 'retry' | 'misconfigured' | 'retired' | 'refused' | 'expired';

export interface BridgeErrorDetails {
  readonly cause?: unknown;
  /** Deliveries only. */
  readonly disposition?: Disposition | undefined;
  /** Whether the failure speaks of this delivery or of the sink as a whole; `delivery` by default. */
  readonly scope?: 'delivery' | 'sink' | undefined;
  /** The other side asked for this pause. */
  readonly retryAfterMs?: number | null | undefined;
  /** However long ago its event ended, it is tried again so soon at the latest. */
  readonly retryWithinMs?: number;
  /** What the other side said: an HTTP status or an error code of its own. */
  readonly status?: number | string | undefined;
  /**
   * With `refused`: the other side named this very delivery, so that it is to blame whatever else was refused in the
   * same call.
   */
  readonly isNamed?: boolean;
  /** With `retired`: until this process ends, not until the configuration changes or `resume` lifts it. */
  readonly untilRestart?: boolean;
}

/** Every error of ours. Its message says what failed, for what, and what to do; it holds no secret and no payload. */
export class BridgeError extends Error {
  override readonly name = 'BridgeError';
  readonly code: ErrorCode;
  readonly disposition: Disposition | undefined;
  readonly scope: 'delivery' | 'sink';
  readonly retryAfterMs: number | undefined;
  readonly retryWithinMs: number | undefined;
  readonly status: number | string | undefined;
  readonly isNamed: boolean;
  readonly untilRestart: boolean;

  constructor(code: ErrorCode, message: string, details: BridgeErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.disposition = details.disposition;
    this.scope = details.scope ?? 'delivery';
    this.retryAfterMs = details.retryAfterMs ?? undefined;
    this.retryWithinMs = details.retryWithinMs;
    this.status = details.status;
    this.isNamed = details.isNamed ?? false;
    this.untilRestart = details.untilRestart ?? false;
  }
}

/** An abort, which passes through unchanged wherever errors are wrapped. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** Nothing can be stored; the store reports why. */
export function isStoreFault(error: unknown): boolean {
  return error instanceof BridgeError && error.code.startsWith('BRIDGE_STORE_');
}

/**
 * Returns an error with only the message: Node attaches raw answers and whole certificates to its errors, which must
 * not be logged.
 */
export function withoutDetails(error: unknown): Error {
  return new Error(messageOf(error) || (codeOf(error) ?? 'unknown'));
}

/**
 * The code that Node and the operating system give their errors, such as `ECONNRESET`, and we ours; undefined if there
 * is none.
 */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The message of anything thrown, for logs and reasons. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
