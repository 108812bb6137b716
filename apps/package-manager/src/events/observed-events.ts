import { classRuntimeToWire, clusterHealthToWire } from "@oaas/contracts/rest";
import { timestamp, type Clock } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import type { HealthReading } from "../ports.ts";
import type { RuntimeView } from "../status/runtime-view.ts";
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

/** Writes into the log what clusters tell: their health, and how their class runtimes are. The answer ends that. */
export function observeEvents({ log, clock, view, readings, clusters }: ObservedEventsOptions): () => void {
  const told = new Set<ClusterName>();
  const at = (): string => timestamp(clock.now());
  const ends = [
    view.onChange((cluster, change) => {
      const topic = "class-runtime";
      if (change.type === "synced" && !told.has(cluster)) {
        // What it had before we knew it is no news of single things, but news.
        told.add(cluster);
        log.append({ topic, type: "resync", key: cluster, at: at() });
      }
      if (!told.has(cluster)) return;
      if (change.type === "removed") log.append({ topic, type: "removed", key: change.unitId, at: at() });
      if (change.type === "changed") {
        const object = classRuntimeToWire(change.report.runtime);
        log.append({ topic, type: "changed", key: change.report.unitId, at: at(), object });
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
      told.delete(cluster);
      if (clusters.get(cluster) === undefined)
        log.append({ topic: "cluster", type: "removed", key: cluster, at: at() });
    }),
  ];
  return () => ends.forEach((end) => end());
}
