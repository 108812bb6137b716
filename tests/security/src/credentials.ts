import { createHash, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Credential } from "./access-table.ts";
import { AUDIENCE, type Issuer } from "./issuer.ts";

/** A bearer token for each credential, and the settings of a package manager that accepts the valid ones. */
export interface Credentials {
  readonly env: Readonly<Record<string, string>>;
  headers(credential: Credential): Readonly<Record<string, string>>;
}

/** Writes a token file into the folder and signs JWTs. */
export async function makeCredentials(folder: string, issuer: Issuer): Promise<Credentials> {
  const tokens = {
    viewer: randomBytes(16).toString("hex"),
    deployer: randomBytes(16).toString("hex"),
    admin: randomBytes(16).toString("hex"),
  };
  const lines = Object.entries(tokens).map(
    ([role, token]) => `${role}:${role}:${createHash("sha256").update(token).digest("hex")}\n`,
  );
  const file = path.join(folder, "tokens");
  await writeFile(file, lines.join(""), { mode: 0o600 });
  const bearers: Readonly<Record<Credential, string | undefined>> = {
    none: undefined,
    wrong: "not-a-token",
    expired: await issuer.sign({ roles: ["admin"] }, { expiresInSeconds: -3600 }),
    unmapped: await issuer.sign({ roles: ["guests"] }),
    ...tokens,
  };
  return {
    env: {
      AUTH_TOKENS_FILE: file,
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: AUDIENCE,
      OIDC_ROLE_CLAIM: "roles",
    },
    headers: (credential) => {
      const bearer = bearers[credential];
      return bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
    },
  };
}
