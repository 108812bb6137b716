import { isFault } from "@oaas/foundation";
import { hasFinalizer, isBeingDeleted, keyOf, type KubeObject, type Stored } from "@oaas/kube-core";
import type { CallOptions } from "../client/requester.ts";
import type { ResourceClient } from "../client/resource-client.ts";

/** The two branches of a finalized reconcile. */
export interface FinalizerSteps<T extends KubeObject, R> {
  /** The object exists: reconcile it. The finalizer is already set. */
  readonly apply: (object: Stored<T>) => Promise<R>;
  /**
   * The object is being deleted: clean up. Return "clean" only when nothing is left; otherwise the outcome of the
   * reconcile.
   */
  readonly cleanUp: (object: Stored<T>) => Promise<"clean" | R>;
}

/**
 * Runs one of two branches and manages the finalizer.
 *
 * *Flow*: alive → add the finalizer → `apply`. Being deleted, with the finalizer → `cleanUp` → when clean, remove the
 * finalizer.
 *
 * *Guarantees*: the finalizer is stored before `apply` runs for the first time, so nothing is created that would not be
 * cleaned up; it is removed only after `cleanUp` returned "clean"; other finalizers are not touched, also when they
 * change concurrently.
 *
 * *Errors*: whatever the branches or the server throw; a conflict means that the object changed and is retryable.
 *
 * Returns undefined when there is nothing to do: being deleted without our finalizer, or already gone.
 */
export async function withFinalizer<T extends KubeObject, R>(
  client: ResourceClient<T>,
  object: Stored<T>,
  finalizer: string,
  steps: FinalizerSteps<T, R>,
  options: CallOptions = {},
): Promise<R | undefined> {
  if (!isBeingDeleted(object)) {
    const kept = hasFinalizer(object, finalizer) ? object : await addFinalizer(client, object, finalizer, options);
    return kept && steps.apply(kept);
  }
  if (!hasFinalizer(object, finalizer)) return undefined;
  const result = await steps.cleanUp(object);
  if (result !== "clean") return result;
  await removeFinalizer(client, object, finalizer, options);
  return undefined;
}

function addFinalizer<T extends KubeObject>(
  client: ResourceClient<T>,
  object: Stored<T>,
  finalizer: string,
  options: CallOptions,
): Promise<Stored<T> | undefined> {
  return setFinalizers(client, object, [...(object.metadata.finalizers ?? []), finalizer], options);
}

async function removeFinalizer<T extends KubeObject>(
  client: ResourceClient<T>,
  object: Stored<T>,
  finalizer: string,
  options: CallOptions,
): Promise<void> {
  const rest = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  await setFinalizers(client, object, rest, options);
}

/**
 * A merge patch with a version: rejected with a conflict when the list changed concurrently, or when the object is
 * another one of the same name. Undefined when the object is gone.
 */
async function setFinalizers<T extends KubeObject>(
  client: ResourceClient<T>,
  object: Stored<T>,
  finalizers: readonly string[],
  options: CallOptions,
): Promise<Stored<T> | undefined> {
  const { resourceVersion } = object.metadata;
  try {
    return await client.patch(keyOf(object), "merge", { metadata: { resourceVersion, finalizers } }, options);
  } catch (thrown) {
    if (isFault(thrown, "not-found")) return undefined;
    throw thrown;
  }
}
