// One request to the metadata service → one whole answer: the contract of a transport.

export interface TransportRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The limit of the whole exchange, from connecting to the last byte. */
  readonly timeoutMs: number;
}

export interface TransportAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Complete: a truncated body is an error. */
  readonly body: Uint8Array;
}

/**
 * Rejects with a BridgeError BRIDGE_METADATA_* or, on abort, at once with the signal's reason. Any status is an answer,
 * even a redirect.
 */
export type MetadataTransport = (request: TransportRequest, signal: AbortSignal) => Promise<TransportAnswer>;
