import { isFault } from "@oaas/foundation";
import { isBeingDeleted, keyOf, refOf } from "@oaas/kube-core";
import type { KubeClient } from "@oaas/kube-runtime";
import type { Problem } from "../../lifecycle/observation/observation.ts";
import { problemFromFault } from "../../lifecycle/observation/problem.ts";
import { isNotFound, type ChildApplier } from "./apply-children.ts";
import type { LiveChild } from "./child-cache.ts";

/** Deletes these objects by uid. Returns missing permissions as problems and throws any other fault. */
export async function removeChildren(
  children: readonly LiveChild[],
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
        else if (!isNotFound(thrown)) throw thrown;
      }
    }),
  );
  return problems;
}
