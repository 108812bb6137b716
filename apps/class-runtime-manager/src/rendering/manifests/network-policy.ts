import type { Manifest } from "../model/rendered.ts";
import type { RenderInput } from "../model/render-input.ts";
import type { Labels } from "./labels.ts";
import { createManifest } from "./manifest.ts";

interface Protected {
  readonly name: string;
  readonly labels: Labels;
  readonly selector: Labels;
  /** The serving ports; all ports when absent. */
  readonly ports?: readonly number[];
  /** Namespaces that always connect. */
  readonly from?: readonly string[];
}

/** Whether the environment enables network policies and the cluster supports them. */
export function hasNetworkPolicy({ environment, cluster }: RenderInput): boolean {
  return environment?.spec.network_policy?.enabled === true && cluster.capabilities.networkPolicy;
}

/** Allows ingress only from the own namespace and from the namespaces of the environment, to serving ports. */
export function renderNetworkPolicy(
  input: RenderInput,
  { name, labels, selector, ports, from = [] }: Protected,
): Manifest {
  const allowed = input.environment?.spec.network_policy?.allow_from_namespaces ?? [];
  const others = [...new Set([...allowed, ...from])].sort();
  return createManifest(
    input,
    { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", name, labels },
    {
      spec: {
        podSelector: { matchLabels: selector },
        policyTypes: ["Ingress"],
        ingress: [
          {
            from: [
              { podSelector: {} },
              ...(others.length === 0
                ? []
                : [
                    {
                      namespaceSelector: {
                        matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: others }],
                      },
                    },
                  ]),
            ],
            ports: ports?.map((port) => ({ protocol: "TCP", port })),
          },
        ],
      },
    },
  );
}
