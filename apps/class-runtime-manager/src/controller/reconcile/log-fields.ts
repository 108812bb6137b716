import type { KubeObject } from "@oaas/kube-core";
import { ANNOTATIONS, correlationIdOf, deploymentIdOf, DEPLOYMENT_ID_LABEL } from "../../mapping/object-identity.ts";

type Identified = Parameters<typeof deploymentIdOf>[0];

/** Log fields of a class: its deployment id and the correlation id of the last call that changed it. */
export function classLogFields(object: KubeObject | undefined): Readonly<Record<string, string>> {
  if (object === undefined) return {};
  const correlationId = correlationIdOf(object as Identified);
  return {
    deployment_id: deploymentIdOf(object as Identified),
    ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
  };
}

/** The same fields as annotations of Events. */
export function classEventAnnotations(object: KubeObject): Readonly<Record<string, string>> {
  const { deployment_id = "", correlation_id } = classLogFields(object);
  return {
    [DEPLOYMENT_ID_LABEL]: deployment_id,
    ...(correlation_id === undefined ? {} : { [ANNOTATIONS.correlationId]: correlation_id }),
  };
}
