import type { Manifest } from "../model/rendered.ts";
import type { RenderInput } from "../model/render-input.ts";
import type { Labels } from "./labels.ts";
import { createManifest } from "./manifest.ts";

interface Protected {
  readonly name: string;
  readonly labels: Labels;
  readonly selector: Labels;
  readonly ports: readonly number[];
}

/** Whether the class's environment wants network policies and the cluster has them. */
export function hasNetworkPolicy({ environment, cluster }: RenderInput): boolean {
  return environment?.spec.network_policy?.enabled === true && cluster.capabilities.networkPolicy;
}

/** Only pods of the own namespace and of those the environment names may call, and only on the ports that serve. */
export function renderNetworkPolicy(input: RenderInput, { name, labels, selector, ports }: Protected): Manifest {
  const others = [...(input.environment?.spec.network_policy?.allow_from_namespaces ?? [])].sort();
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
            ports: ports.map((port) => ({ protocol: "TCP", port })),
          },
        ],
      },
    },
  );
}
