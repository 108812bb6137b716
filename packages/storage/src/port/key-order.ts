import type { KeySpan } from "./key-value-store.ts";

/** Keys from `start` (inclusive) to `end` (exclusive, open when undefined). */
export interface KeyRange {
  readonly start: string;
  readonly end: string | undefined;
}

const SURROGATES = 0xd800;
const AFTER_SURROGATES = 0xe000;
const LAST_CODE_POINT = 0x10ffff;

/** Compares keys by code point, which is the order of UTF-8 bytes; JavaScript compares UTF-16 code units. */
export function compareKeys(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

/** Surrogates encode code points above U+FFFF, so they sort after every other code unit. */
function rank(unit: number): number {
  return unit >= SURROGATES && unit < AFTER_SURROGATES ? unit + 0x10000 : unit;
}

/** Returns the exclusive end of the range of a prefix; undefined if the range is open. */
export function prefixEnd(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last < LAST_CODE_POINT) {
      const next = last + 1 === SURROGATES ? AFTER_SURROGATES : last + 1;
      return String.fromCodePoint(...points, next);
    }
  }
  return undefined;
}

/** Converts a span to a range. */
export function rangeOf(span: KeySpan): KeyRange {
  return span.prefix === undefined
    ? { start: span.start, end: span.end }
    : { start: span.prefix, end: prefixEnd(span.prefix) };
}

/** Returns the next possible key. U+0001 is the smallest character in a key. */
export function keyAfter(key: string): string {
  return `${key}\u0001`;
}

/** Whether a key is in a range. */
export function inRange(range: KeyRange, key: string): boolean {
  return compareKeys(key, range.start) >= 0 && (range.end === undefined || compareKeys(key, range.end) < 0);
}

/** Returns the rest of a range after the last key of a page. */
export function rangeAfter(range: KeyRange, after: string | undefined): KeyRange {
  if (after === undefined) return range;
  const start = keyAfter(after);
  return compareKeys(start, range.start) > 0 ? { start, end: range.end } : range;
}
