/** Inline bytes, or a file that is re-read when it changes. */
export type FileOrData =
  | { readonly data: string; readonly file?: never }
  | { readonly file: string; readonly data?: never };

/** A program that returns credentials (`users[].user.exec` of a kubeconfig). */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly provideClusterInfo: boolean;
  readonly installHint: string | undefined;
}

/** How a client authenticates, besides a client certificate. */
export type CredentialSource =
  | { readonly type: "none" }
  | { readonly type: "token"; readonly token: string }
  | { readonly type: "token-file"; readonly file: string }
  | { readonly type: "basic"; readonly username: string; readonly password: string }
  | { readonly type: "exec"; readonly plugin: ExecPlugin };

/** Everything needed to connect to one cluster as one user. */
export interface ClusterAccess {
  /** Without a trailing slash; may have a path. */
  readonly server: string;
  readonly tls: {
    readonly ca?: FileOrData;
    readonly certificate?: FileOrData;
    readonly key?: FileOrData;
    readonly insecure: boolean;
    readonly serverName?: string;
  };
  readonly proxyUrl?: string;
  readonly credentials: CredentialSource;
  readonly impersonate?: { readonly user: string; readonly groups: readonly string[]; readonly uid?: string };
  /** The default namespace. */
  readonly namespace: string;
  /** The namespace of the Pod whose service account this is. */
  readonly podNamespace?: string;
  /** For people: the origin of this access. */
  readonly origin: string;
}
