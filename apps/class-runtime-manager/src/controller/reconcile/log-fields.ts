import type { KubeObject } from "@oaas/kube-core";
import { ANNOTATIONS, correlationIdOf, deploymentIdOf, DEPLOYMENT_ID_LABEL } from "../../mapping/object-identity.ts";

type Identified = Parameters<typeof deploymentIdOf>[0];

/** What every log line about a class says: which deployment it is, and which call last changed it. */
export function logFieldsOf(object: KubeObject | undefined): Readonly<Record<string, string>> {
  if (object === undefined) return {};
  const correlationId = correlationIdOf(object as Identified);
  return {
    deployment_id: deploymentIdOf(object as Identified),
    ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
  };
}

/** The same, as annotations of its Events. */
export function eventAnnotationsOf(object: KubeObject): Readonly<Record<string, string>> {
  const { deployment_id = "", correlation_id } = logFieldsOf(object);
  return {
    [DEPLOYMENT_ID_LABEL]: deployment_id,
    ...(correlation_id === undefined ? {} : { [ANNOTATIONS.correlationId]: correlation_id }),
  };
}
