import { checkRange } from "../../port/check-requests.ts";
import { compareKeys, inRange, rangeAfter, rangeOf, type KeyRange } from "../../port/key-order.ts";
import { withinBytes } from "../../port/page-bytes.ts";
import { MAX_PAGE_BYTES, type Entry, type Page, type RangeQuery } from "../../port/key-value-store.ts";
import type { LocalEngine } from "./engine.ts";

type Past = ReadonlyMap<string, Entry | undefined>;

const NOTHING_CHANGED: Past = new Map();

/** Returns an entry at a revision; the current one by default. */
export function readOne(engine: LocalEngine, key: string, atRevision?: number): Entry | undefined {
  return atRevision === undefined ? engine.table.get(key) : readMany(engine, [key], atRevision)[0];
}

/** Returns entries at a revision; the current one by default. */
export function readMany(engine: LocalEngine, keys: readonly string[], atRevision?: number): (Entry | undefined)[] {
  const past = pastOf(engine, atRevision);
  return keys.map((key) => (past.has(key) ? past.get(key) : engine.table.get(key)));
}

/** Returns one page of a range. Reads of the past undo the later changes. */
export function readRange(engine: LocalEngine, query: RangeQuery): Page {
  const limit = checkRange(query);
  const whole = rangeOf(query);
  const past = pastOf(engine, query.atRevision);
  const bytes = query.keysOnly ? undefined : MAX_PAGE_BYTES;
  const found = scan(engine, rangeAfter(whole, query.after), { limit: limit + 1, past, bytes });
  const entries = withinBytes(found.slice(0, limit), query.keysOnly ? undefined : ({ value }) => value.length);
  return {
    entries: query.keysOnly ? entries.map((entry) => ({ ...entry, value: "" })) : entries,
    revision: query.atRevision ?? engine.history.revision,
    ...(found.length > entries.length ? { next: (entries.at(-1) as Entry).key } : {}),
    ...(query.count ? { total: count(engine, whole, past) } : {}),
  };
}

function pastOf(engine: LocalEngine, atRevision: number | undefined): Past {
  if (atRevision === undefined) return NOTHING_CHANGED;
  return engine.history.undoTo(atRevision);
}

function scan(
  engine: LocalEngine,
  range: KeyRange,
  { limit, past, bytes }: { readonly limit: number; readonly past: Past; readonly bytes: number | undefined },
): Entry[] {
  if (past.size === 0) return engine.table.scan(range, limit, bytes);
  const now = engine.table.scan(range, limit + past.size).filter((entry) => !past.has(entry.key));
  const then = [...past.values()].filter((entry) => entry !== undefined && inRange(range, entry.key)) as Entry[];
  return [...now, ...then].sort((a, b) => compareKeys(a.key, b.key)).slice(0, limit);
}

function count(engine: LocalEngine, range: KeyRange, past: Past): number {
  let total = engine.table.count(range);
  for (const [key, entry] of past) {
    if (!inRange(range, key)) continue;
    total += Number(entry !== undefined) - Number(engine.table.get(key) !== undefined);
  }
  return total;
}
