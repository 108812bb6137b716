import { SERIES_LABELS } from "@oaas/nfr/queries";
import { CLASS_LABEL, DEPLOYMENT_LABEL, FUNCTION_LABEL, OWNER_LABEL } from "./labels.ts";

/** The labels of pods that every series gets. Queries find the series of a class by them. */
const POD_LABELS = {
  owner: OWNER_LABEL,
  deploymentId: DEPLOYMENT_LABEL,
  class: CLASS_LABEL,
  function: FUNCTION_LABEL,
} as const satisfies Record<keyof typeof SERIES_LABELS, string>;

/** A relabelling rule, in the spelling of the Prometheus operator. */
interface Relabeling {
  readonly action: "replace";
  readonly sourceLabels: readonly string[];
  readonly targetLabel: string;
}

/** Copies the labels of the pod to all its series. Labels that the pod does not have are not added. */
export function relabelings(): readonly Relabeling[] {
  return (Object.keys(POD_LABELS) as (keyof typeof POD_LABELS)[]).map((name) => ({
    action: "replace",
    sourceLabels: [`__meta_kubernetes_pod_label_${sanitizedName(POD_LABELS[name])}`],
    targetLabel: SERIES_LABELS[name],
  }));
}

/** The name of a Kubernetes label in Prometheus. */
function sanitizedName(label: string): string {
  return label.replaceAll(/[^a-zA-Z0-9_]/g, "_");
}
