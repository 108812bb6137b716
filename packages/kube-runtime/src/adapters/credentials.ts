import type { Clock } from "@oaas/foundation";
import type { ClusterAccess } from "../client/access.ts";
import { createExecCredentials } from "./exec-plugin.ts";
import { fileSource, textSource } from "./file-source.ts";

/** Who a client is, as it goes over the wire. */
export interface Identity {
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly certificate?: string;
  readonly key?: string;
}

/** A client's identity, renewed as tokens rotate and plugins expire. */
export interface Credentials {
  present(): Promise<Identity>;
  /** The server said 401: forget what is cached. True when asking again may give something else. */
  refused(): boolean;
}

/** The credentials that an access describes. */
export function createCredentials(access: ClusterAccess, clock: Clock): Credentials {
  const certificate = access.tls.certificate && textSource(access.tls.certificate, clock);
  const key = access.tls.key && textSource(access.tls.key, clock);
  const token = tokenOf(access, clock);
  const fixed = impersonation(access);
  return {
    present: async () => {
      const given = await token.get();
      const pem = given.certificate ?? certificate?.read();
      const secret = given.key ?? key?.read();
      return {
        headers: { ...fixed, ...(given.authorization === undefined ? {} : { authorization: given.authorization }) },
        ...(pem === undefined ? {} : { certificate: pem }),
        ...(secret === undefined ? {} : { key: secret }),
      };
    },
    refused: () => token.refused(),
  };
}

interface TokenGiver {
  get(): Promise<{ readonly authorization?: string; readonly certificate?: string; readonly key?: string }>;
  refused(): boolean;
}

function tokenOf(access: ClusterAccess, clock: Clock): TokenGiver {
  const { credentials } = access;
  switch (credentials.type) {
    case "none":
      return { get: async () => ({}), refused: () => false };
    case "token":
      return { get: async () => ({ authorization: `Bearer ${credentials.token}` }), refused: () => false };
    case "basic": {
      const pair = Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64");
      return { get: async () => ({ authorization: `Basic ${pair}` }), refused: () => false };
    }
    case "token-file": {
      let file = fileSource(credentials.file, clock);
      return {
        get: async () => ({ authorization: `Bearer ${file.read().trim()}` }),
        refused: () => {
          // Read at once what may have been rotated since the last look.
          file = fileSource(credentials.file, clock);
          return true;
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
        refused: () => {
          plugin.forget();
          return true;
        },
      };
    }
  }
}

/** One header per group: a comma is allowed in a group's name. */
function impersonation({ impersonate }: ClusterAccess): Record<string, string | string[]> {
  if (!impersonate) return {};
  return {
    "impersonate-user": impersonate.user,
    ...(impersonate.groups.length > 0 ? { "impersonate-group": [...impersonate.groups] } : {}),
    ...(impersonate.uid === undefined ? {} : { "impersonate-uid": impersonate.uid }),
  };
}
