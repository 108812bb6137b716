import { isFault } from "@oaas/foundation";
import { hasFinalizer, isBeingDeleted, keyOf, type KubeObject, type Stored } from "@oaas/kube-core";
import type { CallOptions } from "../client/requester.ts";
import type { ResourceClient } from "../client/resource-client.ts";

/** The two branches. */
export interface FinalizerSteps<T extends KubeObject, R> {
  /** The object lives: bring the world to what it asks for. The finalizer is there already. */
  readonly apply: (object: Stored<T>) => Promise<R>;
  /** The object is to go: clean up. Answer "clean" only when nothing is left; else what the reconcile shall answer. */
  readonly cleanUp: (object: Stored<T>) => Promise<"clean" | R>;
}

/**
 * Runs one of two branches, and owns the finalizer between them.
 *
 * *Flow*: alive → put the finalizer → `apply`. To be deleted, with the finalizer → `cleanUp` → when clean, take the finalizer away.
 *
 * *Guarantees*: the finalizer is on the server before `apply` runs for the first time, so nothing is made that would not be cleaned up; it is taken
 * away only after `cleanUp` said that nothing is left; other finalizers are not touched, also when they change at the same time.
 *
 * *Errors*: whatever the steps or the server throw; a conflict means that the object changed and is retryable.
 *
 * Answers undefined when there was nothing to do: to be deleted without our finalizer, or gone.
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
 * A merge patch with the version in it: refused with a conflict when someone else changed the list meanwhile, or when the object is
 * another of the same name. Undefined when it is gone.
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
