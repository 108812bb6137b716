import type { KeySpan } from "./key-value-store.ts";

/** Keys from `start` (inclusive) to `end` (exclusive, open when undefined). */
export interface KeyRange {
  readonly start: string;
  readonly end: string | undefined;
}

const SURROGATES = 0xd800;
const AFTER_SURROGATES = 0xe000;
const LAST_CODE_POINT = 0x10ffff;

/** Order by code point, which is the order of the UTF-8 bytes and not that of JavaScript's own comparison. */
export function compareKeys(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

/** Surrogates stand for code points above U+FFFF, so they rank behind every other unit. */
function rank(unit: number): number {
  return unit >= SURROGATES && unit < AFTER_SURROGATES ? unit + 0x10000 : unit;
}

/** The first key behind all keys with this prefix; undefined when there is none. */
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

/** The range that a span means. */
export function rangeOf(span: KeySpan): KeyRange {
  return span.prefix === undefined
    ? { start: span.start, end: span.end }
    : { start: span.prefix, end: prefixEnd(span.prefix) };
}

/** The least key behind this one. U+0001 is the least character a key may hold. */
export function keyAfter(key: string): string {
  return `${key}\u0001`;
}

/** Whether a key lies within a range. */
export function inRange(range: KeyRange, key: string): boolean {
  return compareKeys(key, range.start) >= 0 && (range.end === undefined || compareKeys(key, range.end) < 0);
}

/** The part of a range that is left behind a page's last key. */
export function rangeAfter(range: KeyRange, after: string | undefined): KeyRange {
  if (after === undefined) return range;
  const start = keyAfter(after);
  return compareKeys(start, range.start) > 0 ? { start, end: range.end } : range;
}
