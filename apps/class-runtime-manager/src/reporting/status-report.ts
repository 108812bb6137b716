import { equalJson } from "@oaas/foundation";
import { conditionWords, DeploymentCondition } from "@oaas/contracts/grpc";
import type { ClassChange } from "../classes/ports.ts";
import { classRuntimeToSummary, summaryText } from "../mapping/status/class-runtime-to-wire.ts";
import { deploymentIdOf } from "../mapping/object-identity.ts";
import type { StatusReport } from "./ports.ts";
import type { Report } from "./report-queue.ts";

/** Whether a change is news for the package manager: the state, the spec it is about, or that it goes away. */
export function isNews(change: ClassChange): boolean {
  if (change.type !== "updated") return change.type === "deleted" || change.object.status !== undefined;
  const { object, previous } = change;
  return (
    object.metadata.generation !== previous.metadata.generation ||
    object.metadata.deletionTimestamp !== previous.metadata.deletionTimestamp ||
    object.metadata.uid !== previous.metadata.uid ||
    !equalJson(object.status ?? {}, previous.status ?? {})
  );
}

/** The state of a class as the package manager is told it. */
export function statusReport(
  { object, isDeleted }: Report,
  origin: StatusReport["origin"],
  nowMs: number,
): StatusReport {
  const summary = classRuntimeToSummary(object);
  const { status } = summary;
  if (isDeleted && status) status.condition = DeploymentCondition.DELETED;
  const id = deploymentIdOf(object);
  const word = conditionWords.fromWire(status?.condition ?? 0) ?? "unknown";
  const changedMs = isDeleted ? nowMs : Date.parse(summary.updatedAt) || nowMs;
  return {
    deploymentId: id,
    status: {
      deploymentId: id,
      status: word.toUpperCase(),
      message: isDeleted ? "Deleted" : summaryText(object),
      updatedAt: wireTime(changedMs),
      classRuntime: summary,
    },
    origin,
  };
}

/** A moment as messages have it. */
export function wireTime(epochMs: number): { seconds: bigint; nanos: number } {
  const seconds = Math.floor(epochMs / 1000);
  return { seconds: BigInt(seconds), nanos: Math.round((epochMs - seconds * 1000) * 1e6) };
}
