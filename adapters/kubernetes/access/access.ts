// The types of credentials for an API server, from a service account or a kubeconfig.

/** The current texts of the files. */
export interface Access {
  readonly server: URL;
  /** PEM. Default: the certificate authorities of the machine. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name in the server's certificate, if it is not the host. */
  readonly serverName?: string | undefined;
  /** Absent if the client certificate is sufficient. */
  readonly token?: string | undefined;
}

/** The files of the credentials, and how to parse them. */
export interface AccessSource {
  readonly paths: readonly string[];
  /** Parses the texts, in the order of the paths. @throws with a reason that quotes none of them */
  readonly read: (texts: readonly string[]) => Access;
}
