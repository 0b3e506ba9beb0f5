// A caller of the HTTP interface: its proof, and who it proved to be. Types alone.

/** Who calls, and by what it proved that; an approver may read too. */
export interface Caller {
  readonly kind: 'approver' | 'reader';
  readonly name: string;
  readonly via: 'token' | 'certificate' | 'jwt';
}

/** The names in a client certificate that an authority of `http.tls.clientCa` signed for a client and that is valid now. */
export interface ClientCertificate {
  /** The common name of its subject, its URIs and e-mail addresses, which are compared letter by letter. */
  readonly exact: readonly string[];
  /** Its DNS names in lower case, which are compared without case. */
  readonly dns: readonly string[];
}

/** What a request brought to prove who sends it. */
export interface Credentials {
  readonly token: string | null;
  readonly certificate: ClientCertificate | null;
  /** The caller's IP address, or for IPv6 its network: the work that each can cause is shared out by it. */
  readonly network: string;
}

/** `unavailable`: it cannot be judged now, through no fault of the caller. Each `detail` says what to do. */
export type Authentication =
  | { readonly outcome: 'known'; readonly caller: Caller }
  | { readonly outcome: 'nobody'; readonly detail: string }
  | { readonly outcome: 'unavailable'; readonly detail: string; readonly retryAfterSeconds: number };
