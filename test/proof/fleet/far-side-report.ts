// The messages between a replay and the process of its far side.

/** What the process is to be. */
export type FarSideOrder =
  | {
      readonly kind: 'webhook';
      /** More requests within a second are answered 429; null: no limit. */
      readonly perSecond: number | null;
      /** Of a 429; null: without the header. */
      readonly retryAfterS: number | null;
    }
  | { readonly kind: 'service-bus' }
  /** `isCounted`: requests and bytes are counted on the way, which takes four sockets more for each connection. */
  | { readonly kind: 'kafka'; readonly isCounted: boolean };

/** How sinks reach it: their options, and the secrets that these name by `env`. */
export interface FarSideAddress {
  readonly options: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** What it has seen, from its start. */
export interface FarSideReport {
  readonly connections: number;
  readonly mostOpen: number;
  /** By what the protocol calls them. */
  readonly requests: Readonly<Record<string, number>>;
  /** On its sockets, in both directions, without TLS. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** SHA-256 of the structured CloudEvent of each record that a reader finds there. */
  readonly kept: readonly string[];
  /** Records that it accepted, also those that it dropped as repeats. */
  readonly accepted: number;
}
