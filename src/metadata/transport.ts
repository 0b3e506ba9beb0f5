// What the metadata client needs from a transport: one request in, one whole answer out.

export interface TransportRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For the whole exchange, from connecting to the last byte. */
  readonly timeoutMs: number;
}

export interface TransportAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Complete: a body that was cut short is an error. */
  readonly body: Uint8Array;
}

/** Rejects with a BridgeError BRIDGE_METADATA_* or, aborted, at once with the signal's reason. Any status is an answer, a redirect too. */
export type Transport = (request: TransportRequest, signal: AbortSignal) => Promise<TransportAnswer>;
