import type { Ambient } from "@oaas/foundation";
import { LocalEngine } from "../local/engine.ts";
import { DEFAULT_HISTORY, type HistoryLimits } from "../local/history.ts";
import { shareEngine, type SharedStore } from "../local/shared-store.ts";
import { MemoryTable } from "./memory-table.ts";

export interface MemoryStoreOptions {
  readonly ambient: Ambient;
  readonly history?: HistoryLimits;
  /** Interval of bookmarks for watches without events while the store changes. */
  readonly bookmarkMs?: number;
  /** Schedules notifications of watchers; immediately by default. Services notify once per event loop turn. */
  readonly scheduleNotify?: (notify: () => void) => void;
}

/**
 * The reference backend: all data in the memory of this process.
 *
 * Guarantees: uses only the time and randomness of `ambient`, so it is deterministic in a simulation.
 */
export function openMemoryStore(options: MemoryStoreOptions): SharedStore {
  const { ambient, history = DEFAULT_HISTORY, bookmarkMs = 10_000, scheduleNotify } = options;
  const engine = new LocalEngine({ ambient, table: new MemoryTable(), history, scheduleNotify });
  return shareEngine(engine, ambient, bookmarkMs);
}

export type { HistoryLimits } from "../local/history.ts";
export type { SharedStore } from "../local/shared-store.ts";
