import { NAME_RULES, type NameKind } from "./names.ts";
import { sha256Hex } from "@oaas/foundation/hash";

/** Rules for the name. */
export interface SafeNameOptions {
  /** Default 63, which is valid everywhere; never above the limit of the kind. At least 16. */
  readonly maxLength?: number;
  /** Default `dns-1123-label`. */
  readonly kind?: NameKind;
}

/** 12 digits of base 32 are 60 bits: among a million names the chance of a collision is one in two million. */
const HASH_LENGTH = 12;
const LEAST_MAX_LENGTH = 16;

/** Crockford's digits: no i, l, o, u, so that a hash is not misread and not a word. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** Used when no character of a name could be kept. */
const NAMELESS = "x";

/**
 * Builds a valid name from parts, deterministically.
 *
 * - The parts joined by `-`, unchanged, when that is a valid, unambiguous name of allowed length.
 * - Otherwise as much of it as is valid and fits, `-`, and a hash of the given parts: 60 bits of SHA-256.
 * This applies when something was cut or replaced (also upper case), and when a part after the first contains `-`,
 * because `a-b` + `c` and `a` + `b-c` must differ.
 *
 * Different lists of the same length give different names, except for hash collisions. A hash does not prevent a user
 * from choosing a name that equals a shortened one: check the owner of an object before adopting it.
 */
export function safeName(parts: readonly string[], options: SafeNameOptions = {}): string {
  const { kind = "dns-1123-label", maxLength: wanted = 63 } = options;
  const rule = NAME_RULES[kind];
  const maxLength = Math.min(wanted, rule.maxLength);
  if (!(maxLength >= LEAST_MAX_LENGTH)) {
    throw new RangeError(`a safe name needs room for ${LEAST_MAX_LENGTH} characters, not ${maxLength}`);
  }

  const joined = parts.join("-");
  const ambiguous = parts.slice(1).some((part) => part === "" || part.includes("-"));
  if (joined !== "" && !ambiguous && joined.length <= maxLength && rule.pattern.test(joined)) return joined;

  const head = validHead(kind, joined, maxLength - HASH_LENGTH - 1);
  return `${head}-${shortHash(JSON.stringify(parts))}`;
}

/** The longest prefix of a text that is valid for this kind; never empty, never ending in a separator. */
function validHead(kind: NameKind, text: string, length: number): string {
  const cut = (kept: string): string => kept.slice(0, length).replace(/(?<![-_.])[-_.]+$/, "") || NAMELESS;
  switch (kind) {
    case "label-value":
      return cut(text.replaceAll(/[^-A-Za-z0-9_.]+/g, "-").replace(/^[-_.]+/, ""));
    case "dns-1123-subdomain":
      return cut(
        dashed(text, /[^-a-z0-9.]+/g)
          .replaceAll(/[-.]+/g, (separators) => (separators.includes(".") ? "." : separators))
          .replace(/^[-.]+/, ""),
      );
    case "dns-1123-label":
      return cut(dashed(text, /[^-a-z0-9]+/g).replace(/^-+/, ""));
    case "dns-1035-label": {
      const label = dashed(text, /[^-a-z0-9]+/g).replace(/^-+/, "");
      return cut(/^\d/.test(label) ? `${NAMELESS}${label}` : label);
    }
  }
}

/** Lower-cases only ASCII: other case rules grow with Unicode, and a name must never change. */
function dashed(text: string, refused: RegExp): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()).replaceAll(refused, "-");
}

function shortHash(text: string): string {
  const number = BigInt(`0x${sha256Hex(text).slice(0, 16)}`);
  return Array.from({ length: HASH_LENGTH }, (_, index) => {
    const shift = BigInt(64 - 5 * (index + 1));
    return DIGITS.charAt(Number((number >> shift) & 31n));
  }).join("");
}
