import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  componentFile,
  kubeconfigText,
  makeRunFolder,
  onFreePorts,
  probe,
  startFailure,
  startProcess,
  untilReady,
  type RunningProcess,
} from "@oaas/real-components";
import type { KubernetesUnderTest } from "./start-kubernetes.ts";

export interface KubeStateMetricsOptions {
  /** The configuration of custom resource state metrics. */
  readonly configFile: string;
  /** The bearer token of its user; the default is the administrator. */
  readonly token?: string;
}

/** A real kube-state-metrics on loopback, for custom resources only. */
export interface KubeStateMetricsUnderTest extends AsyncDisposable {
  readonly url: string;
  readonly process: RunningProcess;
  /** The text of /metrics. */
  read(): Promise<string>;
  close(): Promise<void>;
}

/** Starts kube-state-metrics for a cluster and waits until it serves. */
export function startKubeStateMetrics(
  cluster: KubernetesUnderTest,
  { configFile, token = cluster.token }: KubeStateMetricsOptions,
): Promise<KubeStateMetricsUnderTest> {
  return onFreePorts(2, async ([port = 0, telemetryPort = 0]) => {
    const folder = await makeRunFolder("kube-state-metrics");
    const url = `http://127.0.0.1:${port}/metrics`;
    let server: RunningProcess | undefined;
    try {
      const kubeconfig = join(folder.path, "kubeconfig");
      const authority = await readFile(cluster.caFile, "utf8");
      const user = { name: "kube-state-metrics", token };
      await writeFile(kubeconfig, kubeconfigText("test", cluster.url, authority, [user]), { mode: 0o600 });
      server = await startProcess({
        command: componentFile("kube-state-metrics"),
        args: [
          `--kubeconfig=${kubeconfig}`,
          `--custom-resource-state-config-file=${configFile}`,
          "--custom-resource-state-only",
          "--host=127.0.0.1",
          `--port=${port}`,
          "--telemetry-host=127.0.0.1",
          `--telemetry-port=${telemetryPort}`,
        ],
        cwd: folder.path,
        logFile: join(folder.path, "kube-state-metrics.log"),
      });
      await untilReady(server, async () => (await probe(url)).status === 200);
    } catch (error) {
      await server?.stop(0);
      throw await startFailure("kube-state-metrics", folder, error);
    }
    const running = server;
    const close = async (): Promise<void> => {
      await running.stop(0);
      await folder.remove();
    };
    const read = async (): Promise<string> => (await probe(url)).body;
    return { url, process: running, read, close, [Symbol.asyncDispose]: close };
  });
}
