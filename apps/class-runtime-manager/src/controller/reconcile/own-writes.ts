import { keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import type { InformerView } from "@oaas/kube-runtime";

/**
 * Objects as the cache has them, or as we have just written them ourselves where the cache does not show that yet: whoever reads the older state
 * would write the same again, and tell of it twice. Keeps nothing that the cache has caught up with.
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

  /** The newest state that is known. */
  get(key: ObjectKey): Stored<T> | undefined {
    const cached = this.#cached.get(key);
    const own = cached && this.#written.get(cached.metadata.uid);
    return own && isNewer(own, cached) ? own : cached;
  }

  /** Notes what the server answered to a write of ours. */
  note(object: Stored<T>): void {
    const cached = this.#cached.get(keyOf(object));
    // The watch may have been quicker than the answer.
    if (cached?.metadata.uid === object.metadata.uid && isNewer(object, cached))
      this.#written.set(object.metadata.uid, object);
  }
}

/** Versions of one object are numbers that grow; what is no number is not compared. */
function isNewer(one: Stored<KubeObject>, other: Stored<KubeObject>): boolean {
  const [a, b] = [one.metadata.resourceVersion, other.metadata.resourceVersion];
  return /^\d+$/.test(a) && /^\d+$/.test(b) && BigInt(a) > BigInt(b);
}
