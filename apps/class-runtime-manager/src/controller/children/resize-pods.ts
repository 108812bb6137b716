import { Fault, isFault } from "@oaas/foundation";
import { fieldConflictsOf, refOf, type KubeObject, type Stored } from "@oaas/kube-core";
import type { EventRecorder, KubeClient } from "@oaas/kube-runtime";
import { resizeFailureEvent } from "../../enforcement/enforcement-events.ts";
import {
  infeasibleResize,
  planPodResizes,
  podsOfFunction,
  RESIZE_FIELD_MANAGER,
  type PodResize,
} from "../../enforcement/pod-resizes.ts";
import type { Pod } from "../../lifecycle/observation/observed-objects.ts";
import type { RenderedFunction } from "../../templates/index.ts";
import { PODS } from "../kinds/resource-types.ts";

const MAX_PARALLEL_RESIZES = 4;

/** A resize that the server or the node rejected. */
interface Rejection {
  readonly wanted: string;
  readonly resourceVersion: string | undefined;
  readonly message: string;
}

/** Rejections by the uid of the pod. */
type Rejections = ReadonlyMap<string, Rejection>;

/**
 * Applies the resources of functions to their running pods.
 *
 * *Guarantees*: a pod that has its resources is not written; a rejected resize is tried again only when the pod or the
 * wanted resources changed; every new reason of a rejection has one event.
 */
export class PodResizer {
  readonly #client: KubeClient;
  readonly #events: Pick<EventRecorder, "record">;
  /** By the uid of the class. */
  readonly #rejected = new Map<string, Rejections>();

  constructor(client: KubeClient, events: Pick<EventRecorder, "record">) {
    this.#client = client;
    this.#events = events;
  }

  /** Resizes the pods of a class. Returns a fault worth a retry. */
  async resize(
    object: Stored<KubeObject>,
    functions: readonly RenderedFunction[],
    pods: readonly Pod[],
    signal: AbortSignal,
  ): Promise<Fault | undefined> {
    const { uid } = object.metadata;
    const before = this.#rejected.get(uid) ?? new Map<string, Rejection>();
    const next = new Map<string, Rejection>();
    const reject = (functionKey: string, podUid: string, rejection: Rejection): void => {
      next.set(podUid, rejection);
      if (before.get(podUid)?.message === rejection.message) return;
      this.#events.record(resizeFailureEvent(functionKey, rejection.message, refOf(object)));
    };
    for (const { functionKey, pod, message } of listInfeasible(functions, pods))
      reject(functionKey, pod.metadata.uid ?? "", { wanted: "", ...versionOf(pod), message });
    let retry: Fault | undefined;
    const queue = [...planPodResizes(functions, pods)];
    const resizeQueued = async (): Promise<void> => {
      for (let resize = queue.shift(); resize; resize = queue.shift()) {
        const { functionKey, manifest } = resize;
        const podUid = manifest.metadata.uid ?? "";
        const attempt = { wanted: JSON.stringify(manifest.spec), ...versionOf(resize.pod) };
        const known = before.get(podUid);
        if (known?.wanted === attempt.wanted && known.resourceVersion === attempt.resourceVersion) {
          next.set(podUid, known);
          continue;
        }
        const fault = await tryResize(this.#client, resize, signal);
        if (fault?.retryable) retry ??= fault;
        else if (fault) reject(functionKey, podUid, { ...attempt, message: fault.message });
      }
    };
    await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL_RESIZES, queue.length) }, resizeQueued));
    if (next.size > 0) this.#rejected.set(uid, next);
    else this.#rejected.delete(uid);
    return retry;
  }
}

/** The node decides after the server accepted a resize. */
function listInfeasible(
  functions: readonly RenderedFunction[],
  pods: readonly Pod[],
): readonly { readonly functionKey: string; readonly pod: Pod; readonly message: string }[] {
  return functions.flatMap(({ functionKey }) =>
    podsOfFunction(functionKey, pods).flatMap((pod) => {
      const message = infeasibleResize(pod);
      return message === undefined ? [] : [{ functionKey, pod, message }];
    }),
  );
}

function versionOf({ metadata }: Pod): Pick<Rejection, "resourceVersion"> {
  return { resourceVersion: metadata.resourceVersion };
}

/**
 * Resizes a pod, or only asks whether the server would. Returns the fault; undefined when it succeeded or the pod does
 * not exist.
 *
 * The controller that created the pod owns its resources, so that the apply takes them over. Resources that another
 * manager set by a resize, such as the Vertical Pod Autoscaler, stay.
 */
export async function tryResize(
  client: KubeClient,
  { manifest }: PodResize,
  signal: AbortSignal,
  dryRun = false,
): Promise<Fault | undefined> {
  const apply = (force: boolean): Promise<unknown> =>
    client
      .resource(PODS)
      .apply(manifest, { fieldManager: RESIZE_FIELD_MANAGER, subresource: "resize", force, dryRun, signal });
  try {
    try {
      await apply(false);
    } catch (thrown) {
      const conflicts = thrown instanceof Fault ? fieldConflictsOf(thrown) : [];
      if (conflicts.length === 0 || conflicts.some(({ subresource }) => subresource === "resize")) throw thrown;
      await apply(true);
    }
    return undefined;
  } catch (thrown) {
    // A pod of this name with another uid is a conflict.
    if (isFault(thrown, "not-found") || isFault(thrown, "conflict")) return undefined;
    return Fault.from(thrown);
  }
}
