import type { DeploymentTemplateSpec } from "@oaas/contracts/crd";

export type TemplateType = DeploymentTemplateSpec["template_type"];

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The kind of workload by template type. */
export const WORKLOAD_OF_TYPE: Readonly<Record<TemplateType, string>> = {
  Deployment: "apps/v1/Deployment",
  StatefulSet: "apps/v1/StatefulSet",
  DaemonSet: "apps/v1/DaemonSet",
  Job: "batch/v1/Job",
  Knative: "serving.knative.dev/v1/Service",
};

/** Group, version and kind of a manifest. */
export function kindOf({ apiVersion, kind }: Kind): string {
  return `${apiVersion}/${kind}`;
}

/** Whether a manifest creates pods. */
export function createsPods(manifest: Kind): boolean {
  return Object.values(WORKLOAD_OF_TYPE).includes(kindOf(manifest));
}
