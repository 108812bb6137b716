/**
 * SHA-256 with `node:crypto`: names, change detection and digests. A separate entry, because the main entry of this
 * package also runs in a browser.
 */
import { hash } from "node:crypto";
import { canonicalJson } from "../json/canonical-json.ts";

const HASH_DIGITS = 40;

/** Returns the SHA-256 digest of a text's UTF-8 bytes as 64 hexadecimal digits. */
export function sha256Hex(text: string): string {
  return hash("sha256", text, "hex");
}

/**
 * Returns a stable hash of a JSON value, independent of the order of members: the first 160 bits of SHA-256 over the
 * canonical JSON as 40 hexadecimal digits, which fit a label value.
 */
export function hashJson(value: unknown): string {
  return sha256Hex(canonicalJson(value)).slice(0, HASH_DIGITS);
}

/** Returns the digest of a JSON value that clients can verify: `sha256:` and the SHA-256 of the canonical JSON. */
export function digestJson(value: unknown): string {
  return `sha256:${sha256Hex(canonicalJson(value))}`;
}
