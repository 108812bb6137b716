import { internal, invalidArgument } from "@oaas/foundation";

/** Terminates a segment: smaller than every character of an encoded segment. */
const END = "\u0001";
const ESCAPE = "\u0002";
// oxlint-disable-next-line no-control-regex -- control characters are the subject
const ESCAPED = /[\u0000-\u0002]/g;
// oxlint-disable-next-line no-control-regex -- control characters are the subject
const UNESCAPED = /\u0002([\u0003-\u0005])/g;
const SHIFT = 3;
/** Characters that need an escape. */
// oxlint-disable-next-line no-control-regex -- control characters are the subject
const SPECIAL = /[\u0000-\u0002]/;

/**
 * Encodes any well-formed string as part of a key.
 *
 * Guarantees: reversible; keeps the order by code point; ordinary names are unchanged. The three lowest control
 * characters are encoded as U+0002 followed by U+0003 to U+0005, which keeps their order.
 */
export function encodeSegment(text: string): string {
  if (!text.isWellFormed()) {
    throw invalidArgument("the name", [{ path: "$", message: "has a lone surrogate" }]);
  }
  if (!SPECIAL.test(text)) return text;
  return text.replace(ESCAPED, (character) => ESCAPE + String.fromCharCode(character.charCodeAt(0) + SHIFT));
}

export function decodeSegment(encoded: string): string {
  if (!SPECIAL.test(encoded)) return encoded;
  return encoded.replace(UNESCAPED, (_, mark: string) => String.fromCharCode(mark.charCodeAt(0) - SHIFT));
}

/** Encodes two strings, sorted by the first, then by the second. */
export function encodePair(first: string, second: string): string {
  return encodeSegment(first) + END + encodeSegment(second);
}

/** Returns the prefix of all pairs with this first string. */
export function pairPrefix(first: string): string {
  return encodeSegment(first) + END;
}

export function secondOfPair(pair: string): string {
  const end = pair.indexOf(END);
  if (end < 0) throw internal("an index entry has no second part", { code: "OAAS_STORE_VALUE_INVALID" });
  return decodeSegment(pair.slice(end + 1));
}
