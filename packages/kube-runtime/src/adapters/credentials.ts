import type { Clock } from "@oaas/foundation";
import { fileSource } from "@oaas/foundation/files";
import type { ClusterAccess } from "../client/access.ts";
import { createExecCredentials } from "./exec-plugin.ts";
import { textSource } from "./text-source.ts";

/** The identity of a client, as sent to the server. */
export interface Identity {
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly certificate?: string;
  readonly key?: string;
}

/** Provides a client's identity, renewed as tokens rotate and plug-ins expire. */
export interface Credentials {
  /** Returns the current identity. */
  current(): Promise<Identity>;
  /** Reports a 401 for this identity. Returns true when `current` returns, or may return, a different one. */
  mayRenew(rejected: Identity): boolean;
}

/** Creates the credentials that an access describes. */
export function createCredentials(access: ClusterAccess, clock: Clock): Credentials {
  const certificate = access.tls.certificate && textSource(access.tls.certificate, clock);
  const key = access.tls.key && textSource(access.tls.key, clock);
  const token = tokenOf(access, clock);
  const fixed = impersonation(access);
  return {
    current: async () => {
      const credential = await token.get();
      const pem = credential.certificate ?? certificate?.read();
      const secret = credential.key ?? key?.read();
      return {
        headers: {
          ...fixed,
          ...(credential.authorization === undefined ? {} : { authorization: credential.authorization }),
        },
        ...(pem === undefined ? {} : { certificate: pem }),
        ...(secret === undefined ? {} : { key: secret }),
      };
    },
    mayRenew: ({ headers }) => token.mayRenew(headers["authorization"]),
  };
}

interface TokenSource {
  get(): Promise<{ readonly authorization?: string; readonly certificate?: string; readonly key?: string }>;
  mayRenew(rejected: unknown): boolean;
}

function tokenOf(access: ClusterAccess, clock: Clock): TokenSource {
  const { credentials } = access;
  switch (credentials.type) {
    case "none":
      return { get: async () => ({}), mayRenew: () => false };
    case "token":
      return { get: async () => ({ authorization: `Bearer ${credentials.token}` }), mayRenew: () => false };
    case "basic": {
      const pair = Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64");
      return { get: async () => ({ authorization: `Basic ${pair}` }), mayRenew: () => false };
    }
    case "token-file": {
      const file = fileSource(credentials.file, clock);
      const authorization = (): string => `Bearer ${file.read().trim()}`;
      return {
        get: async () => ({ authorization: authorization() }),
        mayRenew: (rejected) => {
          // Re-read immediately: the file may have been rotated.
          file.forget();
          return authorization() !== rejected;
        },
      };
    }
    case "exec": {
      const plugin = createExecCredentials(credentials.plugin, access, clock);
      return {
        get: async () => {
          const { token, certificate, key } = await plugin.get();
          return {
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...(certificate === undefined ? {} : { certificate }),
            ...(key === undefined ? {} : { key }),
          };
        },
        mayRenew: () => plugin.forget(),
      };
    }
  }
}

/** One header per group, because group names may contain commas. */
function impersonation({ impersonate }: ClusterAccess): Record<string, string | string[]> {
  if (!impersonate) return {};
  return {
    "impersonate-user": impersonate.user,
    ...(impersonate.groups.length > 0 ? { "impersonate-group": [...impersonate.groups] } : {}),
    ...(impersonate.uid === undefined ? {} : { "impersonate-uid": impersonate.uid }),
  };
}
