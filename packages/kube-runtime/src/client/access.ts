/** Bytes given in place, or a file that is read anew when it changes. */
export type FileOrData =
  | { readonly data: string; readonly file?: never }
  | { readonly file: string; readonly data?: never };

/** A program that answers credentials (`users[].user.exec` of a kubeconfig). */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly provideClusterInfo: boolean;
  readonly installHint: string | undefined;
}

/** How a client proves who it is, besides a client certificate. */
export type CredentialSource =
  | { readonly type: "none" }
  | { readonly type: "token"; readonly token: string }
  | { readonly type: "token-file"; readonly file: string }
  | { readonly type: "basic"; readonly username: string; readonly password: string }
  | { readonly type: "exec"; readonly plugin: ExecPlugin };

/** Everything needed to talk to one cluster as one user. */
export interface ClusterAccess {
  /** Without a slash at the end; may have a path. */
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
  /** The namespace to work in when none is said. */
  readonly namespace: string;
  /** For people: where this came from. */
  readonly origin: string;
}
