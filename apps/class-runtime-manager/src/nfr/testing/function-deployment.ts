import type { KubeObject } from "@oaas/kube-core";

/** The Deployment of the function `f` of a class. */
export function functionDeployment(name: string, replicas: number, resources?: object): KubeObject {
  const container = { image: "example.test/fn:1", ...(resources === undefined ? {} : { resources }) };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name,
      labels: { "oaas.io/component": "function", "oaas.io/function": "f" },
      annotations: { "oaas.io/function-key": "f" },
    },
    spec: { replicas, template: { spec: { containers: [container] } } },
  } as KubeObject;
}
