import { PAGE_LIMITS } from "@oaas/contracts/rest";
import type { PageRequest } from "./use-cases.ts";

/** A page request within the limits of the API; a page always has a limit. */
export function boundedPage({ limit = PAGE_LIMITS.usual, offset, pageToken }: PageRequest) {
  return {
    limit: Math.min(limit, PAGE_LIMITS.most),
    ...(offset === undefined ? {} : { offset }),
    ...(pageToken === undefined ? {} : { pageToken }),
  };
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
