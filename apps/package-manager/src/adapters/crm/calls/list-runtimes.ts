import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListClassRuntimesRequestSchema, ListClassRuntimesResponse } from "@oaas/contracts/grpc";
import { present } from "@oaas/contracts/rest";
import { unavailable } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import type { RuntimeQuery, UnitReport } from "../../../ports.ts";
import { matchesQuery } from "../../../status/runtime-query.ts";
import { peerName } from "../guard/cluster-guard.ts";
import { reportFromWire } from "../wire/report-from-wire.ts";

const PAGE = 500;

type Request = MessageInitShape<typeof ListClassRuntimesRequestSchema>;

/**
 * Everything in a cluster that matches, page after page.
 *
 * Filters are sent and checked again: the Rust manager ignores them, and takes `status` for something else, so that it is never sent. It
 * has no page tokens either and is paged by offset; what moves in between is told once. A peer whose pages repeat themselves is not asked for ever.
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
  const seen = new Set<string>();
  const tokens = new Set<string>();
  let at: Pick<Request & object, "pageToken" | "offset"> = {};
  for (;;) {
    const page = await ask({ ...filters, ...at, limit: PAGE });
    // Only peers that page by token count the whole; they also honour the filters.
    const filtered = page.totalCount !== undefined;
    const before = seen.size;
    for (const summary of page.items) {
      const report = reportFromWire(cluster, summary);
      if (seen.has(report.unitId)) continue;
      seen.add(report.unitId);
      if (matchesQuery(report, query, filtered)) yield report;
    }
    const token = page.nextPageToken;
    if (token !== "") {
      if (tokens.has(token)) throw unavailable(peerName(cluster), `${peerName(cluster)} lists without an end`);
      tokens.add(token);
      at = { pageToken: token };
    }
    // A full page of nothing new: the peer knows of no offset.
    else if (!filtered && page.items.length >= PAGE && seen.size > before) at = { offset: (at.offset ?? 0) + PAGE };
    else return;
  }
}
