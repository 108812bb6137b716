import { NAME_RULES, type NameKind } from "./names.ts";
import { sha256Hex } from "@oaas/foundation/hash";

/** Which rules the name must keep. */
export interface SafeNameOptions {
  /** Default 63, which every place takes; never above the limit of the kind. At least 16. */
  readonly maxLength?: number;
  /** Default `dns-1123-label`. */
  readonly kind?: NameKind;
}

/** 12 digits of base 32 are 60 bits: among a million names the chance of any two meeting is one in two million. */
const HASH_LENGTH = 12;
const LEAST_MAX_LENGTH = 16;

/** Crockford's digits: no i, l, o, u, so that a hash is neither misread nor a word. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** Stands for a name of which no character could be kept. */
const NAMELESS = "x";

/**
 * A valid name made of parts, always the same for the same parts.
 *
 * - The parts joined by `-`, unchanged, when that is a valid name, short enough and unambiguous.
 * - Else as much of it as is valid and fits, `-`, and a hash of the parts as they were given: 60 bits of SHA-256.
 *   So it is when something had to be cut or replaced (also upper case), and when a part after the first contains `-`,
 *   since `a-b` + `c` and `a` + `b-c` must not meet.
 *
 * Different lists of the same length give different names, except by a collision of the hash. What a hash cannot prevent
 * is somebody choosing a name that looks like another's shortened one: check who owns an object before adopting it.
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

/** The most of a text that can begin a name of this kind; never empty, never ending in a separator. */
function validHead(kind: NameKind, text: string, length: number): string {
  const cut = (kept: string): string => kept.slice(0, length).replace(/[-_.]+$/, "") || NAMELESS;
  switch (kind) {
    case "label-value":
      return cut(text.replaceAll(/[^-A-Za-z0-9_.]+/g, "-").replace(/^[-_.]+/, ""));
    case "dns-1123-subdomain":
      return cut(
        dashed(text, /[^-a-z0-9.]+/g)
          .replaceAll(/[-.]*\.[-.]*/g, ".")
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

/** Only ASCII is lower-cased: the case rules of the rest grow with Unicode, and a name must never change. */
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
