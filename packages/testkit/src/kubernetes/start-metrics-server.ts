import { join } from "node:path";
import {
  componentFile,
  makeRunFolder,
  onFreePorts,
  startFailure,
  startProcess,
  type RunningProcess,
} from "@oaas/real-components";
import { runKubectl } from "../knative/knative-kinds.ts";
import { registerMetricsApi } from "./start-metrics-api.ts";
import type { KubernetesUnderTest } from "./start-kubernetes.ts";

/** Files for `kwokConfigs`, with which KWOK reports the usage that annotations of pods state. */
export function kwokUsageConfigs(): readonly string[] {
  const folder = componentFile("kwok-metrics");
  return [join(folder, "usage", "usage-from-annotation.yaml"), join(folder, "resource", "metrics-resource.yaml")];
}

/** The real metrics-server. */
export interface MetricsServerUnderTest extends AsyncDisposable {
  readonly process: RunningProcess;
  close(): Promise<void>;
}

/**
 * Starts the real metrics-server for a cluster whose KWOK was started with `kwokUsageConfigs`. The usage of a pod is in its
 * annotations `kwok.x-k8s.io/usage-cpu` and `kwok.x-k8s.io/usage-memory`; metrics-server reads it every ten seconds.
 */
export async function startMetricsServer(cluster: KubernetesUnderTest): Promise<MetricsServerUnderTest> {
  await prepareCluster(cluster);
  return onFreePorts(1, async ([port = 0]) => {
    const folder = await makeRunFolder("metrics-server");
    let server: RunningProcess | undefined;
    try {
      const { kubeconfig } = cluster;
      server = await startProcess({
        command: componentFile("metrics-server"),
        args: [
          `--kubeconfig=${kubeconfig}`,
          `--authentication-kubeconfig=${kubeconfig}`,
          // The API server of tests publishes no certificate for requests to extension servers.
          "--authentication-skip-lookup",
          `--authorization-kubeconfig=${kubeconfig}`,
          "--bind-address=127.0.0.1",
          `--secure-port=${port}`,
          "--cert-dir=certs",
          "--deprecated-kubelet-completely-insecure",
          "--kubelet-use-node-status-port",
          "--kubelet-preferred-address-types=InternalIP",
          "--metric-resolution=10s",
          "--kubelet-request-timeout=5s",
        ],
        cwd: folder.path,
        logFile: join(folder.path, "metrics-server.log"),
      });
      await registerMetricsApi(cluster, port);
    } catch (error) {
      await server?.stop(0);
      throw await startFailure("metrics-server", folder, error);
    }
    const running = server;
    const close = async (): Promise<void> => {
      await running.stop(0);
      await folder.remove();
    };
    return { process: running, close, [Symbol.asyncDispose]: close };
  });
}

/**
 * The test API server has no client certificate for extension servers, so its requests arrive without a user there. KWOK
 * serves the usage of a node under another path than a kubelet.
 */
async function prepareCluster({ kubectl }: KubernetesUnderTest): Promise<void> {
  const anyone = { kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "system:unauthenticated" };
  const metadata = { name: "read-metrics" };
  const items = [
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata,
      rules: [
        { apiGroups: ["metrics.k8s.io"], resources: ["*"], verbs: ["get", "list"] },
        { nonResourceURLs: ["/apis/*", "/openapi/*"], verbs: ["get"] },
      ],
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: metadata.name },
      subjects: [anyone],
    },
  ];
  await runKubectl(kubectl, ["apply", "-f", "-"], {
    stdin: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
  });
  const nodes = (await kubectl(["get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"])).stdout.split(" ");
  for (const node of nodes) {
    const path = `metrics.k8s.io/resource-metrics-path=/metrics/nodes/${node}/metrics/resource`;
    await runKubectl(kubectl, ["annotate", "node", node, path]);
  }
}
