import { MAX_PAGE_BYTES } from "./key-value-store.ts";

/** Entries that a backend reads at once, so that a page of large values is not read as a whole before it is cut. */
export const READ_TOGETHER = 128;

/** The first items up to `MAX_PAGE_BYTES`; at least one. All of them without a size. */
export function withinBytes<T>(items: T[], bytesOf: ((item: T) => number) | undefined): T[] {
  if (bytesOf === undefined) return items;
  let bytes = 0;
  for (let at = 0; at < items.length; at += 1) {
    if (bytes >= MAX_PAGE_BYTES) return items.slice(0, at);
    bytes += bytesOf(items[at] as T);
  }
  return items;
}
