import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { KubeObject, Stored } from "@oaas/kube-core";
import { parseTraceparent, type SpanStart } from "@oaas/observability";
import { ANNOTATIONS } from "../../mapping/object-identity.ts";
import { classLogFields } from "./log-fields.ts";

/**
 * The cause of a reconcile: until the class is available in its current generation, it is a part of the call that
 * changed the class. Later it has another cause, such as a failed pod, and its trace links to the call.
 */
export function classTrace<T extends KubeObject>(
  object: Stored<T> | undefined,
  statusOf: (object: Stored<T>) => ClassRuntimeStatus | undefined,
): Pick<SpanStart, "parent" | "links" | "attributes"> {
  if (object === undefined) return {};
  const { deployment_id } = classLogFields(object);
  const attributes = { "oaas.deployment.id": deployment_id };
  const cause = parseTraceparent(object.metadata.annotations?.[ANNOTATIONS.traceparent]);
  if (cause === undefined) return { attributes };
  const { phase, observedGeneration } = statusOf(object) ?? {};
  const isRolledOut = phase === "available" && observedGeneration === object.metadata.generation;
  return isRolledOut ? { links: [cause], attributes } : { parent: cause, attributes };
}
