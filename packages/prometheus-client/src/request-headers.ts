/** Credentials and tenant of a server; all optional. */
export interface PrometheusIdentity {
  readonly token?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Tenant of Mimir, Cortex or Loki-like servers. */
  readonly tenant?: string | undefined;
}

/** The request headers of an identity. A token has precedence over a user name. */
export function identityHeaders({ token, username, password, tenant }: PrometheusIdentity): Record<string, string> {
  const authorization =
    token !== undefined
      ? `Bearer ${token}`
      : username !== undefined
        ? `Basic ${base64(`${username}:${password ?? ""}`)}`
        : undefined;
  return {
    ...(authorization === undefined ? {} : { authorization }),
    ...(tenant === undefined ? {} : { "x-scope-orgid": tenant }),
  };
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
