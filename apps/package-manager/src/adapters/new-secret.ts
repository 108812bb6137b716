import { randomBytes } from "node:crypto";

/** A secret of 256 random bits, as 43 characters. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}
