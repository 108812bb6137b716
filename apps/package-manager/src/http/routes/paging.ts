import { notFound } from "@oaas/foundation";
import { HEADERS } from "@oaas/contracts/rest";
import type { ListPage, PageRequest } from "../../use-cases.ts";

/** The paging parameters that every list takes. */
export function pageRequestOf(query: {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly page_token?: string | undefined;
}): PageRequest {
  const { limit, offset, page_token: pageToken } = query;
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(offset === undefined ? {} : { offset }),
    ...(pageToken === undefined ? {} : { pageToken }),
  };
}

/** The headers by which every list tells its size and how to go on. */
export function pageHeaders({ total, next }: ListPage<unknown>): Record<string, string> {
  return {
    [HEADERS.totalCount]: String(total),
    ...(next === undefined ? {} : { [HEADERS.nextPageToken]: next }),
  };
}

/** The revision that a path names; one that is no number is not there. */
export function revisionIn(parameters: Readonly<Record<string, string>>): number {
  const text = parameters["revision"] ?? "";
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound("revision", text);
  return Number(text);
}
