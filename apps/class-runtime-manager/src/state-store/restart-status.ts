import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { timestamp } from "@oaas/foundation";
import { hashJson } from "@oaas/foundation/hash";
import type { RestartDecision } from "./decide-restart.ts";
import type { RunningStore } from "./running-store.ts";

type OdgmStatus = NonNullable<ClassRuntimeStatus["odgm_cluster_status"]>;
export type RestartStatus = NonNullable<OdgmStatus["restart"]>;
export type ConfigurationStatus = NonNullable<OdgmStatus["configuration"]>;

const STATES = {
  pending: "Pending",
  refuse: "Refused",
  "wait-for-turn": "WaitingForTurn",
  wait: "Restarting",
  restart: "Restarting",
} as const satisfies Record<Exclude<RestartDecision["kind"], "none">, RestartStatus["state"]>;

/** The decision as the status shows it; undefined when nothing restarts. */
export function restartStatus(decision: RestartDecision): RestartStatus | undefined {
  if (decision.kind === "none") return undefined;
  const { kind, reason, message, nodes } = decision;
  return { state: STATES[kind], reason, message, nodes: [...nodes].toSorted((a, b) => a - b) };
}

/** A store of an earlier version that runs on, because nothing can replace it without losing its objects. */
export function heldStatus(workloads: readonly string[]): RestartStatus {
  const message = `${workloads.join(" and ")} of an earlier version cannot be updated in place, and keeps running. Set odgm.allow_restart to replace it without its objects; to keep them, copy them with oaas state copy first.`;
  return { state: "Refused", reason: "EarlierVersion", message, nodes: [] };
}

/** The settings that nodes read at start, with the time of their last change. */
export function configurationStatus(
  { settings, settingsCreatedAt }: Pick<RunningStore, "settings" | "settingsCreatedAt">,
  previous: ConfigurationStatus | undefined,
  nowMs: number,
): ConfigurationStatus {
  const digest = hashJson(settings).slice(0, 16);
  if (previous?.digest === digest) return previous;
  // Without a record they are as they were created: nodes of earlier versions have them in their pod template.
  const since = previous === undefined ? (settingsCreatedAt ?? timestamp(nowMs)) : timestamp(nowMs);
  return { digest, since };
}
