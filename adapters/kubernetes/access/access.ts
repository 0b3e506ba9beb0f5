// Who the bridge is to an API server, and who that server is to it: one type for both ways.

/** Texts, as the files hold them now. */
export interface Access {
  readonly server: URL;
  /** PEM; absent: the authorities of the machine. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** What the certificate of the server must be for, where that is not its host. */
  readonly serverName?: string | undefined;
  /** Absent where the client's certificate says it all. */
  readonly token?: string | undefined;
}

/** Files, and what is made of them. */
export interface AccessSource {
  readonly paths: readonly string[];
  /** Of the texts in the order of the paths. @throws with the reason, which quotes nothing of them */
  readonly read: (texts: readonly string[]) => Access;
}
