import type { Ambient } from "@oaas/foundation";
import type { KeyValueStore } from "../../port/key-value-store.ts";
import type { LocalEngine } from "./engine.ts";
import { LocalHandle } from "./handle.ts";

/** A store with several clients in one process: each handle has its own watches and lease renewals. */
export interface SharedStore extends KeyValueStore {
  /** Returns another client of the same data. To the other clients, closing it is the same as a crash. */
  connect(ambient?: Ambient): KeyValueStore;
}

/** Returns the first handle, which closes the engine. */
export function shareEngine(engine: LocalEngine, ambient: Ambient, bookmarkMs: number): SharedStore {
  const first = new LocalHandle({ ambient, engine, bookmarkMs, owner: true });
  return Object.assign(first, {
    connect: (other: Ambient = ambient): KeyValueStore =>
      new LocalHandle({ ambient: other, engine, bookmarkMs, owner: false }),
  });
}
