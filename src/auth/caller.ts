// A caller of the HTTP interface: its credentials and its identity. Only types.

/** An identified caller, and the type of its credential. An approver may also read. */
export interface Caller {
  readonly kind: 'approver' | 'reader';
  readonly name: string;
  readonly via: 'token' | 'certificate' | 'jwt';
}

/** The names in a client certificate that a CA of `http.tls.clientCa` signed and that is valid now. */
export interface ClientCertificate {
  /** The common name of its subject, its URIs and e-mail addresses. Case-sensitive. */
  readonly exact: readonly string[];
  /** Its DNS names in lower case. Not case-sensitive. */
  readonly dns: readonly string[];
}

export interface Credentials {
  readonly token: string | null;
  readonly certificate: ClientCertificate | null;
  /** The caller's IP address, or for IPv6 its network. Verifications take turns by network. */
  readonly network: string;
}

/**
 * `nobody`: the credentials are rejected. `unavailable`: they cannot be verified now, and the caller is not at fault.
 * `detail` says what to do.
 */
export type Authentication =
  | { readonly outcome: 'known'; readonly caller: Caller }
  | { readonly outcome: 'nobody'; readonly detail: string }
  | { readonly outcome: 'unavailable'; readonly detail: string; readonly retryAfterSeconds: number };
