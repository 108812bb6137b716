import {
  CLUSTER_NAME,
  FREEZE_DURATION_RANGE,
  FREEZE_REASON,
  FREEZE_SCHEDULE,
  LIST_LIMITS,
  TIME_ZONE,
  type ActiveFreeze,
  type ClusterName,
  type FreezeWindowName,
  type FreezeWindowState,
} from "@oaas/models";
import type { Violation } from "@oaas/foundation";
import {
  field,
  input,
  listOf,
  optional as optionalInput,
  readInteger,
  readRuledText,
  readTimestamp,
} from "../../reading/fields.ts";
import { array, boolean, integer, optional, required, resource, string, timestamp } from "../../reading/resource.ts";

const WINDOW = {
  clusters: "Clusters that it freezes; empty: the whole platform.",
  start: "When the window begins, with `end`; instead of `schedule`.",
  end: "When the window ends.",
  schedule: "When the window begins, as a CronJob states it, with `duration_secs`: `0 18 * * 5` is Friday at 18:00.",
  duration: "Seconds that each occurrence lasts.",
  timeZone: "IANA time zone of `schedule`. Default: UTC.",
  reason: "Reason; shown in the status, in plans and in refusals.",
};

/** A freeze window to set. */
export const freezeWindowInput = input(
  {
    clusters: field(WINDOW.clusters, listOf(readRuledText<ClusterName>(CLUSTER_NAME), LIST_LIMITS.freezeClusters)),
    start: field(WINDOW.start, optionalInput(readTimestamp())),
    end: field(WINDOW.end, optionalInput(readTimestamp())),
    schedule: field(WINDOW.schedule, optionalInput(readRuledText(FREEZE_SCHEDULE))),
    duration_secs: field(WINDOW.duration, optionalInput(readInteger(FREEZE_DURATION_RANGE))),
    time_zone: field(WINDOW.timeZone, optionalInput(readRuledText(TIME_ZONE))),
    reason: field(WINDOW.reason, optionalInput(readRuledText(FREEZE_REASON))),
  },
  checkTimes,
);

/** A window has either a start and an end, or a schedule and a duration. */
function checkTimes(members: Readonly<Record<string, unknown>>): readonly Violation[] {
  const has = (name: string): boolean => members[name] !== undefined && members[name] !== null;
  const violations: Violation[] = [];
  const missing = (name: string, because: string): void => {
    if (!has(name)) violations.push({ path: `$.${name}`, message: "is missing", fix: `set it beside ${because}` });
  };
  const isOnce = has("start") || has("end");
  const isRecurring = has("schedule") || has("duration_secs") || has("time_zone");
  if (isOnce && isRecurring) {
    const fix = "set either start and end, or schedule and duration_secs";
    return [{ path: "$.schedule", message: "excludes start and end", fix }];
  }
  if (!isOnce && !isRecurring) {
    return [{ path: "$.start", message: "is missing", fix: "set start and end, or schedule and duration_secs" }];
  }
  if (isOnce) {
    missing("start", "end");
    missing("end", "start");
    const [start, end] = [Date.parse(String(members["start"])), Date.parse(String(members["end"]))];
    if (end <= start) violations.push({ path: "$.end", message: "is not after start", fix: "state a later time" });
  } else {
    missing("schedule", "duration_secs");
    missing("duration_secs", "schedule");
  }
  return violations;
}

/** A freeze window with its present state. */
export const freezeWindow = resource<FreezeWindowState>()({
  name: required("name", "Name of the window.", string<FreezeWindowName>()),
  clusters: required("clusters", WINDOW.clusters, array(string<ClusterName>())),
  start: optional("start", WINDOW.start, timestamp()),
  end: optional("end", WINDOW.end, timestamp()),
  schedule: optional("schedule", WINDOW.schedule, string()),
  durationSeconds: optional("duration_secs", WINDOW.duration, integer(FREEZE_DURATION_RANGE)),
  timeZone: optional("time_zone", WINDOW.timeZone, string()),
  reason: optional("reason", WINDOW.reason, string()),
  by: required("by", "Caller that set the window.", string()),
  at: required("at", "Time of the request.", timestamp()),
  active: required("active", "Whether it freezes its clusters now.", boolean()),
  until: optional("until", "When the present occurrence ends.", timestamp()),
  nextStart: optional("next_start", "When the next occurrence begins; absent when there is none.", timestamp()),
});

/** A freeze window that is active now. */
export const activeFreeze = resource<ActiveFreeze>()({
  window: required("window", "Name of the window.", string<FreezeWindowName>()),
  clusters: required(
    "clusters",
    "Clusters that are frozen, of those that the deployment uses.",
    array(string<ClusterName>()),
  ),
  until: required("until", "When the window ends.", timestamp()),
  reason: optional("reason", "Reason, if one was given.", string()),
});
