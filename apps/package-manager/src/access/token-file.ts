import { createHash } from "node:crypto";
import { err, ok, type Result, type Violation } from "@oaas/foundation";
import { ROLES, type Role } from "@oaas/contracts/rest";
import type { Caller } from "./caller.ts";

/**
 * Tokens and who they belong to, one line each: `name:role:sha256-of-the-token-in-hex`. Empty lines and lines that begin with
 * `#` say nothing. The file holds no secret that could be used, only what proves one.
 */
export interface TokenTable {
  /** Who a token belongs to; undefined for an unknown one. */
  callerOf(token: string): Caller | undefined;
  readonly size: number;
}

/** Reads a token file, or says everything that is wrong with it by line. */
export function readTokens(text: string): Result<TokenTable, readonly Violation[]> {
  const violations: Violation[] = [];
  // What is looked up is the hash, which nobody can choose: the time it takes tells nothing about the tokens.
  const byHash = new Map<string, Caller>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const said = line.trim();
    if (said === "" || said.startsWith("#")) continue;
    const [name = "", role = "", hash = "", ...more] = said.split(":").map((part) => part.trim());
    const path = `line ${index + 1}`;
    if (name === "" || more.length > 0 || hash === "")
      violations.push({ path, message: "is not name:role:hash", fix: "write for example ci:deployer:<64 hex digits>" });
    else if (!(ROLES as readonly string[]).includes(role) || role === "public")
      violations.push({ path, message: `"${role}" is no role`, fix: "use viewer, deployer or admin" });
    else if (!/^[0-9a-fA-F]{64}$/.test(hash))
      violations.push({ path, message: "has no SHA-256 hash", fix: "write the SHA-256 of the token as 64 hex digits" });
    else if (byHash.has(hash.toLowerCase()))
      violations.push({
        path,
        message: "has the token of a line before",
        fix: "give each its own, or take one line out",
      });
    else byHash.set(hash.toLowerCase(), { name, role: role as Role });
  }
  if (violations.length > 0) return err(violations);
  return ok({
    size: byHash.size,
    callerOf: (token) => byHash.get(createHash("sha256").update(token).digest("hex")),
  });
}
