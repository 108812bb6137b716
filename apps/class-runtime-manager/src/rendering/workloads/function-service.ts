import { SERVICE_PORT, type ClassPlan, type FunctionPlan } from "../plan/class-plan.ts";
import { componentLabels, FUNCTION_KEY_ANNOTATION, selectorLabels } from "../manifests/labels.ts";
import { createManifest } from "../manifests/manifest.ts";
import { isScrapedByAnnotation, scrapeAnnotations } from "../manifests/monitor.ts";
import type { Manifest } from "../model/rendered.ts";

/** The cluster-internal Service of a function: port 80, independent of the container port. */
export function renderFunctionService({ input }: ClassPlan, fn: FunctionPlan): Manifest {
  return createManifest(
    input,
    {
      apiVersion: "v1",
      kind: "Service",
      name: fn.name,
      labels: componentLabels(input, fn.name, "function", fn.key),
      annotations: {
        [FUNCTION_KEY_ANNOTATION]: fn.key,
        ...(isScrapedByAnnotation(input.cluster) ? scrapeAnnotations(fn.port) : {}),
      },
    },
    {
      spec: {
        type: "ClusterIP",
        selector: selectorLabels(input, fn.name),
        ports: [
          {
            name: "http",
            port: SERVICE_PORT,
            targetPort: fn.port,
            protocol: "TCP",
            appProtocol: fn.spec.provision_config?.need_http2 === true ? "kubernetes.io/h2c" : undefined,
          },
        ],
      },
    },
  );
}
