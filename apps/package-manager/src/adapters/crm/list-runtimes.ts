import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListClassRuntimesRequestSchema, ListClassRuntimesResponse } from "@oaas/contracts/grpc";
import { present } from "@oaas/contracts/rest";
import type { ClusterName } from "@oaas/models";
import type { RuntimeQuery, UnitReport } from "../../ports.ts";
import { matchesQuery } from "../../status/runtime-query.ts";
import { reportFromWire } from "./report-from-wire.ts";

const PAGE = 500;

type Request = MessageInitShape<typeof ListClassRuntimesRequestSchema>;

/**
 * Everything in a cluster that matches, page after page.
 *
 * Filters are sent and checked again: the Rust manager ignores them, and takes `status` for something else, so that it is never sent. It
 * has no page tokens either and is paged by offset; what moves in between is told once.
 */
export async function* listRuntimes(
  cluster: ClusterName,
  query: RuntimeQuery,
  ask: (request: Request) => Promise<ListClassRuntimesResponse>,
): AsyncGenerator<UnitReport> {
  const filters = present({
    packageName: query.packageName,
    classKey: query.classKey,
    targetEnv: query.environment,
  });
  const told = new Set<string>();
  let at: Pick<Request & object, "pageToken" | "offset"> = {};
  for (;;) {
    const page = await ask({ ...filters, ...at, limit: PAGE });
    // Only peers that page by token count the whole; they also honour the filters.
    const filtered = page.totalCount !== undefined;
    for (const summary of page.items) {
      const report = reportFromWire(cluster, summary);
      if (told.has(report.unitId) || !matchesQuery(report, query, filtered)) continue;
      told.add(report.unitId);
      yield report;
    }
    if (page.nextPageToken !== "") at = { pageToken: page.nextPageToken };
    else if (!filtered && page.items.length >= PAGE) at = { offset: (at.offset ?? 0) + PAGE };
    else return;
  }
}
