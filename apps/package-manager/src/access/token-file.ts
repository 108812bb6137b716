import { createHash } from "node:crypto";
import { err, ok, type Result, type Violation } from "@oaas/foundation";
import { ROLES, type Role } from "@oaas/contracts/rest";
import { checkText, CLUSTER_NAME, type ClusterName } from "@oaas/models";
import type { Caller } from "./caller.ts";

/**
 * The tokens of a file, one per line: `name:role:sha256-of-the-token-in-hex`. The role `reporter@<cluster>` is that of the class runtime
 * manager of a cluster. Empty lines and lines that begin with `#` are ignored. The file contains digests only, not the tokens.
 */
export interface TokenTable {
  /** The caller of a token; undefined for an unknown one. */
  callerOf(token: string): Caller | undefined;
  /** The caller of the token with this SHA-256 digest, in lower-case hex digits. */
  callerOfDigest(digest: string): Caller | undefined;
  readonly size: number;
}

/** Parses a token file; all violations, by line, when it is invalid. */
export function readTokens(text: string): Result<TokenTable, readonly Violation[]> {
  const violations: Violation[] = [];
  // Looking up digests leaks nothing about the tokens through timing: clients cannot choose digests.
  const byHash = new Map<string, Caller>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const content = line.trim();
    if (content === "" || content.startsWith("#")) continue;
    const [name = "", role = "", hash = "", ...more] = content.split(":").map((part) => part.trim());
    const path = `line ${index + 1}`;
    if (name === "" || more.length > 0 || hash === "")
      violations.push({ path, message: "is not name:role:hash", fix: "write for example ci:deployer:<64 hex digits>" });
    else if (rightsOf(role) === undefined)
      violations.push({
        path,
        message: `"${role}" is not a role`,
        fix: "use viewer, deployer, admin or reporter@<cluster>",
      });
    else if (!/^[0-9a-fA-F]{64}$/.test(hash))
      violations.push({
        path,
        message: "is not a SHA-256 digest",
        fix: "write the SHA-256 of the token as 64 hex digits",
      });
    else if (byHash.has(hash.toLowerCase()))
      violations.push({
        path,
        message: "repeats the token of an earlier line",
        fix: "give each caller its own token, or remove one line",
      });
    else byHash.set(hash.toLowerCase(), { name, role: "public", ...rightsOf(role) });
  }
  if (violations.length > 0) return err(violations);
  return ok({
    size: byHash.size,
    callerOf: (token) => byHash.get(createHash("sha256").update(token).digest("hex")),
    callerOfDigest: (digest) => byHash.get(digest),
  });
}

/** The rights of a role in the file; undefined for an unknown role. */
function rightsOf(text: string): Omit<Caller, "name"> | undefined {
  const [role = "", cluster, ...more] = text.split("@");
  if (role === "reporter" && cluster !== undefined && more.length === 0) {
    if (checkText(CLUSTER_NAME, cluster, "$").length > 0) return undefined;
    return {
      role: "public",
      reportsFor: cluster as ClusterName,
      withoutRole: `it only reports for cluster "${cluster}"`,
    };
  }
  return text !== "public" && isRole(text) ? { role: text } : undefined;
}

function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}
