import { PAGE_LIMITS } from "@oaas/contracts/rest";
import { invalidArgument } from "@oaas/foundation";
import { MAX_PAGE_BYTES } from "@oaas/storage";
import type { ListPage, PageRequest } from "./use-cases.ts";

/** A page request within the limits of the API; a page always has a limit. */
export function boundedPage({ limit = PAGE_LIMITS.usual, offset, pageToken }: PageRequest) {
  return {
    limit: Math.min(limit, PAGE_LIMITS.most),
    ...(offset === undefined ? {} : { offset }),
    ...(pageToken === undefined ? {} : { pageToken }),
  };
}

/** Revisions that are read at the same time. */
const READ_TOGETHER = 16;

/**
 * One page of revisions by their numbers, newest first. The token of a page is its first number.
 *
 * The page ends when it has `MAX_PAGE_BYTES`, and has at least one item; a revision that was removed meanwhile is
 * skipped.
 */
export async function pageOfRevisions<T>(
  numbers: readonly number[],
  { limit, offset = 0, pageToken }: ReturnType<typeof boundedPage>,
  read: (revision: number) => Promise<{ readonly item: T; readonly bytes: number } | undefined>,
): Promise<ListPage<T>> {
  const rest =
    pageToken === undefined ? numbers.slice(offset) : numbers.filter((number) => number <= parseRevision(pageToken));
  const items: T[] = [];
  let bytes = 0;
  let taken = 0;
  while (taken < Math.min(limit, rest.length) && bytes < MAX_PAGE_BYTES) {
    const found = await Promise.all(rest.slice(taken, Math.min(taken + READ_TOGETHER, limit)).map(read));
    for (const each of found) {
      if (bytes >= MAX_PAGE_BYTES) break;
      taken += 1;
      bytes += each?.bytes ?? 0;
      if (each !== undefined) items.push(each.item);
    }
  }
  const next = taken === 0 ? undefined : rest[taken];
  return { items, total: numbers.length, ...(next === undefined ? {} : { next: String(next) }) };
}

function parseRevision(token: string): number {
  if (/^[1-9]\d{0,14}$/.test(token)) return Number(token);
  throw invalidArgument("the page token", [
    {
      path: "$.page_token",
      message: "is not a token of this list",
      fix: "pass the token of the previous page unchanged, or omit it to start at the first page",
    },
  ]);
}

/** The order that a `sort` parameter names: a field, descending after a `-`. Records are stored in order of `idField`. */
export function sortOrder(
  sort: string | undefined,
  idField: string,
): { readonly order?: string; readonly descending?: boolean } {
  if (sort === undefined) return {};
  const descending = sort.startsWith("-");
  const field = descending ? sort.slice(1) : sort;
  return { order: field === idField ? "id" : field, descending };
}

/** Matches a part of the name, or the whole name when the pattern contains `*`. */
export function patternMatcher(pattern: string): (name: string) => boolean {
  if (!pattern.includes("*")) return (name) => name.includes(pattern);
  const [first = "", ...rest] = pattern.split("*");
  return (name) => {
    if (!name.startsWith(first)) return false;
    let at = first.length;
    for (const [index, part] of rest.entries()) {
      const isLast = index === rest.length - 1;
      const found = isLast ? name.length - part.length : name.indexOf(part, at);
      if (found < at || !name.startsWith(part, found)) return false;
      at = found + part.length;
    }
    return true;
  };
}
