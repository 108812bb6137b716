import type { KubeObject } from "@oaas/kube-core";

/** Typical Deployments: two containers with probes, resources and variables, about 2 KB each. */
export function deployments(namespace: string, prefix: string, count: number): KubeObject[] {
  return Array.from({ length: count }, (_, index) => deployment(namespace, `${prefix}-${index}`));
}

function deployment(namespace: string, name: string): KubeObject {
  const labels = { "app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "bench" };
  const container = (role: string, port: number): object => ({
    name: role,
    image: `registry.example/bench/${role}:1.4.2`,
    ports: [{ name: "http", containerPort: port, protocol: "TCP" }],
    env: Array.from({ length: 6 }, (_, index) => ({ name: `SETTING_${index}`, value: `value-${index}-of-${name}` })),
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "1", memory: "512Mi" } },
    readinessProbe: { httpGet: { path: "/ready", port: "http" }, periodSeconds: 5 },
    livenessProbe: { httpGet: { path: "/live", port: "http" }, periodSeconds: 10 },
  });
  const spec = {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [container("main", 8080), container("sidecar", 9090)] } },
  };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace, name, labels }, spec } as KubeObject;
}
