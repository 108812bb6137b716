import { invalidArgument } from "@oaas/foundation";

/** Items in the order of their keys, or in the reverse; keys differ. */
export interface Ordered<T> {
  readonly keys: readonly string[];
  readonly items: readonly T[];
}

export interface PageQuery {
  readonly limit: number;
  readonly offset?: number;
  /** The `next` of the page before; wins over offset. */
  readonly pageToken?: string;
}

export interface OrderedPage<T> {
  readonly items: readonly T[];
  /** Of the whole list. */
  readonly total: number;
  /** Set when there is more. */
  readonly next?: string;
}

/** One page of an ordered list. A token names the last item by its key, so that it stays right while items come and go. */
export function pageOf<T>(
  list: Ordered<T>,
  query: PageQuery & { readonly order: string; readonly descending?: boolean },
): OrderedPage<T> {
  const { order, descending = false, limit, offset = 0, pageToken } = query;
  const direction = `${descending ? "-" : ""}${order}`;
  const total = list.items.length;
  const start =
    pageToken === undefined
      ? Math.min(offset, total)
      : positionAfter(list.keys, tokenKey(pageToken, direction), descending);
  const items = list.items.slice(start, start + limit);
  const end = start + items.length;
  const more = items.length > 0 && end < total;
  return { items, total, ...(more ? { next: tokenOf(direction, list.keys[end - 1] as string) } : {}) };
}

/** Index of the first record behind a key; the key itself need not be there any more. */
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
    // Told below, like a token of another list.
  }
  throw invalidArgument("the page token", [
    {
      path: "$.page_token",
      message: "is not a token of this list in this order",
      fix: "pass the token of the page before unchanged, with the same sort, or leave it out to begin anew",
    },
  ]);
}
