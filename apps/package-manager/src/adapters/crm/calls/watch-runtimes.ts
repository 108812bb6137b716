import { ClassRuntimeEventType as Type, type WatchClassRuntimesResponse } from "@oaas/contracts/grpc";
import type { ClusterName } from "@oaas/models";
import type { RuntimeChange } from "../../../ports.ts";
import { reportFromWire } from "../wire/report-from-wire.ts";

/** The changes behind the events of a stream; an event of a kind that a newer peer may have is a sign of life. */
export async function* watchRuntimes(
  cluster: ClusterName,
  events: AsyncIterable<WatchClassRuntimesResponse>,
): AsyncGenerator<RuntimeChange> {
  for await (const event of events) yield changeOf(cluster, event);
}

function changeOf(cluster: ClusterName, { type, classRuntime }: WatchClassRuntimesResponse): RuntimeChange {
  if (type === Type.SNAPSHOT_STARTED) return { type: "syncing" };
  if (type === Type.SNAPSHOT_COMPLETE) return { type: "synced" };
  if (classRuntime === undefined) return { type: "alive" };
  const report = reportFromWire(cluster, classRuntime);
  if (type === Type.DELETED) return { type: "removed", unitId: report.unitId };
  const told = type === Type.SNAPSHOT_ITEM || type === Type.ADDED || type === Type.MODIFIED;
  return told ? { type: "changed", report } : { type: "alive" };
}
