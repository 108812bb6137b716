import type { Manifest } from "../model/rendered.ts";
import type { RenderInput } from "../model/render-input.ts";
import type { Labels } from "./labels.ts";
import { createManifest } from "./manifest.ts";

interface Budget {
  readonly name: string;
  readonly labels: Labels;
  readonly selector: Labels;
}

/** Limits drains to one pod at a time. Pods that are not ready do not block a drain. */
export function renderDisruptionBudget(input: RenderInput, { name, labels, selector }: Budget): Manifest {
  return createManifest(
    input,
    { apiVersion: "policy/v1", kind: "PodDisruptionBudget", name, labels },
    {
      spec: {
        maxUnavailable: 1,
        selector: { matchLabels: selector },
        unhealthyPodEvictionPolicy: "AlwaysAllow",
      },
    },
  );
}
