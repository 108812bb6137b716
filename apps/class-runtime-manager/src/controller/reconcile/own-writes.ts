import { keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import type { InformerView } from "@oaas/kube-runtime";
import { isNewer } from "../children/resource-versions.ts";

/**
 * Reads objects from the cache, or from our own last write while the cache lags behind: acting on the older state would
 * repeat writes and events. Forgets a write as soon as the cache has caught up.
 */
export class OwnWrites<T extends KubeObject> {
  readonly #cached: Pick<InformerView<T>, "get">;
  readonly #written = new Map<string, Stored<T>>();

  constructor(informer: Pick<InformerView<T>, "get" | "onChange">) {
    this.#cached = informer;
    informer.onChange(({ type, object }) => {
      const own = this.#written.get(object.metadata.uid);
      if (own && (type === "deleted" || !isNewer(own, object))) this.#written.delete(object.metadata.uid);
    });
  }

  /** Returns the newest known state. */
  get(key: ObjectKey): Stored<T> | undefined {
    const cached = this.#cached.get(key);
    const own = cached && this.#written.get(cached.metadata.uid);
    return own && isNewer(own, cached) ? own : cached;
  }

  /** Records the response to a write of ours. */
  record(object: Stored<T>): void {
    const cached = this.#cached.get(keyOf(object));
    // The watch event may arrive before the response.
    if (cached?.metadata.uid === object.metadata.uid && isNewer(object, cached))
      this.#written.set(object.metadata.uid, object);
  }
}
