import type { Ambient } from "@oaas/foundation";
import { LocalEngine } from "../local/engine.ts";
import { DEFAULT_HISTORY, type HistoryLimits } from "../local/history.ts";
import { shareEngine, type SharedStore } from "../local/shared-store.ts";
import { MemoryTable } from "./memory-table.ts";

export interface MemoryStoreOptions {
  readonly ambient: Ambient;
  readonly history?: HistoryLimits;
  /** A watch to which nothing was delivered this long, though the store changed, gets a bookmark. */
  readonly bookmarkMs?: number;
  /** When watchers are told of changes: at once unless said. A service has many writes in one turn of the event loop, and may tell of all at its end. */
  readonly tell?: (news: () => void) => void;
}

/**
 * The reference backend: everything in this process, gone with it.
 *
 * Guarantees: uses no time, randomness or task queue but the ambient's, so a simulation can own it.
 */
export function openMemoryStore(options: MemoryStoreOptions): SharedStore {
  const { ambient, history = DEFAULT_HISTORY, bookmarkMs = 10_000, tell } = options;
  const engine = new LocalEngine({ ambient, table: new MemoryTable(), history, tell });
  return shareEngine(engine, ambient, bookmarkMs);
}

export type { HistoryLimits } from "../local/history.ts";
export type { SharedStore } from "../local/shared-store.ts";
