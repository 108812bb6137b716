import { isFault } from "@oaas/foundation";
import { isBeingDeleted, keyOf, refOf } from "@oaas/kube-core";
import type { KubeClient } from "@oaas/kube-runtime";
import type { Problem } from "../../lifecycle/observation/observation.ts";
import { problemFromFault } from "../../lifecycle/observation/problem.ts";
import { isGone, type ChildApplier } from "./apply-children.ts";
import type { PresentChild } from "./child-cache.ts";

/** Asks for the deletion of these very objects. What we may not delete comes back as problems; any other fault is thrown. */
export async function removeChildren(
  children: readonly PresentChild[],
  signal: AbortSignal,
  deps: { readonly applier: Pick<ChildApplier, "forget">; readonly client: KubeClient },
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  await Promise.all(
    children.map(async ({ kind, object }) => {
      deps.applier.forget(kind, object);
      if (isBeingDeleted(object)) return;
      try {
        await deps.client
          .resource(kind)
          .delete(keyOf(object), { uid: object.metadata.uid, propagation: "Background", signal });
      } catch (thrown) {
        if (isFault(thrown, "permission-denied")) problems.push(problemFromFault(thrown, refOf(object)));
        else if (!isGone(thrown)) throw thrown;
      }
    }),
  );
  return problems;
}
