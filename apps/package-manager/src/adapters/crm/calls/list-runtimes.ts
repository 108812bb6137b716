import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListClassRuntimesRequestSchema, ListClassRuntimesResponse } from "@oaas/contracts/grpc";
import { omitUndefined } from "@oaas/contracts/rest";
import { unavailable } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import type { RuntimeQuery, UnitReport } from "../../../ports.ts";
import { matchesQuery } from "../../../status/runtime-query.ts";
import { peerName, withClusterName } from "../guard/cluster-guard.ts";
import { reportFromWire } from "../wire/report-from-wire.ts";

const PAGE_SIZE = 500;

type Request = MessageInitShape<typeof ListClassRuntimesRequestSchema>;

/**
 * Lists the matching runtimes of a cluster, page by page.
 *
 * Filters are sent and checked again, because the Rust manager ignores them; `status` is never sent, because it has another
 * meaning there. The Rust manager pages by offset, so a unit may appear on two pages and is yielded once. A repeated page
 * token ends the listing with a fault.
 */
export async function* listRuntimes(
  cluster: ClusterName,
  query: RuntimeQuery,
  fetchPage: (request: Request) => Promise<ListClassRuntimesResponse>,
): AsyncGenerator<UnitReport> {
  const filters = omitUndefined({
    packageName: query.packageName,
    classKey: query.classKey,
    targetEnv: query.environment,
  });
  const seen = new Set<string>();
  const tokens = new Set<string>();
  let position: Pick<Request & object, "pageToken" | "offset"> = {};
  for (;;) {
    const page = await fetchPage({ ...filters, ...position, limit: PAGE_SIZE });
    // Only peers that page by token return a total; they also apply the filters.
    const isFiltered = page.totalCount !== undefined;
    const before = seen.size;
    for (const summary of page.items) {
      const report = reportFromWire(cluster, summary);
      const address = `${report.namespace ?? ""}/${report.unitId}`;
      if (seen.has(address)) continue;
      seen.add(address);
      if (matchesQuery(report, query, isFiltered)) yield report;
    }
    const token = page.nextPageToken;
    if (token !== "") {
      if (tokens.has(token))
        throw withClusterName(cluster, unavailable(peerName(cluster), "ListClassRuntimes repeats a page token"));
      tokens.add(token);
      position = { pageToken: token };
    }
    // A full page without new units means that the peer ignores the offset.
    else if (!isFiltered && page.items.length >= PAGE_SIZE && seen.size > before)
      position = { offset: (position.offset ?? 0) + PAGE_SIZE };
    else return;
  }
}
