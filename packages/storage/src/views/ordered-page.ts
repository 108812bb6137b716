import { invalidArgument } from "@oaas/foundation";
import { withinBytes } from "../port/page-bytes.ts";

/** Items in ascending or descending order of their unique keys. */
export interface Ordered<T> {
  readonly keys: readonly string[];
  readonly items: readonly T[];
}

export interface PageQuery {
  readonly limit: number;
  readonly offset?: number;
  /** The `next` of the previous page; overrides offset. */
  readonly pageToken?: string;
}

export interface OrderedPage<T> {
  readonly items: readonly T[];
  /** Size of the whole list. */
  readonly total: number;
  /** Set if there are more items. */
  readonly next?: string;
}

/** Returns one page of an ordered list. A token has the key of the last item, so it stays valid while items change. */
export function pageOf<T>(
  list: Ordered<T>,
  query: PageQuery & {
    readonly order: string;
    readonly descending?: boolean;
    /** The size of an item, to end a page at `MAX_PAGE_BYTES`; by default pages are limited in number only. */
    readonly bytesOf?: (item: T) => number;
  },
): OrderedPage<T> {
  const { order, descending = false, limit, offset = 0, pageToken } = query;
  const direction = `${descending ? "-" : ""}${order}`;
  const total = list.items.length;
  const start =
    pageToken === undefined
      ? Math.min(offset, total)
      : positionAfter(list.keys, tokenKey(pageToken, direction), descending);
  const items = withinBytes(list.items.slice(start, start + limit), query.bytesOf);
  const end = start + items.length;
  const more = items.length > 0 && end < total;
  return { items, total, ...(more ? { next: tokenOf(direction, list.keys[end - 1] as string) } : {}) };
}

/** Returns the index of the first item after a key, which may no longer exist. */
export function positionAfter(keys: readonly string[], key: string, descending: boolean): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = keys[middle] as string;
    if (descending ? at >= key : at <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function tokenOf(order: string, key: string): string {
  return btoa(encodeURIComponent(JSON.stringify([order, key]))).replaceAll("=", "");
}

function tokenKey(token: string, order: string): string {
  try {
    const [of, key] = JSON.parse(decodeURIComponent(atob(token))) as unknown[];
    if (of === order && typeof key === "string") return key;
  } catch {
    // Rejected below, like a token of another list.
  }
  throw invalidArgument("the page token", [
    {
      path: "$.page_token",
      message: "does not belong to this list and sort order",
      fix: "pass the token of the previous page unchanged with the same sort, or omit it to start from the first page",
    },
  ]);
}
