import { classRuntimeToWire, clusterHealthToWire } from "@oaas/contracts/rest";
import { timestamp, type Clock } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import type { HealthReading } from "../ports.ts";
import type { RuntimeView } from "../status/runtime-view.ts";
import { DriftNews } from "./drift-news.ts";
import type { EventLog } from "./event-log.ts";

export interface ObservedEventsOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly view: RuntimeView;
  readonly readings: {
    onReading(listener: (reading: HealthReading, before: HealthReading | undefined) => void): () => void;
  };
  readonly clusters: {
    get(name: ClusterName): unknown;
    onChange(listener: (name: ClusterName) => void): () => void;
  };
}

/** Appends changes of cluster health and class runtimes to the log. Returns the function that stops it. */
export function observeEvents({ log, clock, view, readings, clusters }: ObservedEventsOptions): () => void {
  const synced = new Set<ClusterName>();
  const drift = new DriftNews();
  const at = (): string => timestamp(clock.now());
  const unsubscribes = [
    view.onChange((cluster, change) => {
      const topic = "class-runtime";
      if (change.type === "synced" && !synced.has(cluster)) {
        // The first list of a cluster is one resync instead of many events.
        synced.add(cluster);
        log.append({ topic, type: "resync", key: cluster, at: at() });
      }
      // Corrections of the first list are known, not new.
      const corrections = change.type === "changed" ? drift.news(cluster, change.report) : [];
      if (!synced.has(cluster)) return;
      if (change.type === "removed") drift.forget(cluster, change.unitId);
      if (change.type === "removed") log.append({ topic, type: "removed", key: change.unitId, at: at() });
      if (change.type === "changed") {
        const object = classRuntimeToWire(change.report.runtime);
        log.append({ topic, type: "changed", key: change.report.unitId, at: at(), object });
        for (const correction of corrections)
          log.append({ topic, type: "drift-corrected", key: change.report.unitId, at: at(), object: correction });
      }
    }),
    readings.onReading(({ cluster, health, error }, before) => {
      const object = { name: cluster, health: clusterHealthToWire(health, error) };
      log.append({
        topic: "cluster",
        type: before === undefined ? "added" : "changed",
        key: cluster,
        at: at(),
        object,
      });
    }),
    clusters.onChange((cluster) => {
      synced.delete(cluster);
      if (clusters.get(cluster) === undefined)
        log.append({ topic: "cluster", type: "removed", key: cluster, at: at() });
    }),
  ];
  return () => unsubscribes.forEach((unsubscribe) => unsubscribe());
}
