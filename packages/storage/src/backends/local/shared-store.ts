import type { Ambient } from "@oaas/foundation";
import type { KeyValueStore } from "../../port/key-value-store.ts";
import type { LocalEngine } from "./engine.ts";
import { LocalHandle } from "./handle.ts";

/** A store that can be shared: each handle is one client, with its own watches and keep-alives. */
export interface SharedStore extends KeyValueStore {
  /** Another client of the same data. Closing it is what a crash of that client is to the others. */
  connect(ambient?: Ambient): KeyValueStore;
}

/** The first handle, which closes the engine with itself. */
export function shareEngine(engine: LocalEngine, ambient: Ambient, bookmarkMs: number): SharedStore {
  const first = new LocalHandle({ ambient, engine, bookmarkMs, owner: true });
  return Object.assign(first, {
    connect: (other: Ambient = ambient): KeyValueStore =>
      new LocalHandle({ ambient: other, engine, bookmarkMs, owner: false }),
  });
}
