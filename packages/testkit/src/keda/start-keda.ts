import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  componentFile,
  makeAuthority,
  makeRunFolder,
  onFreePorts,
  probe,
  startFailure,
  startProcess,
  untilReady,
  type RunningProcess,
} from "@oaas/real-components";
import { runKubectl } from "../knative/knative-kinds.ts";
import type { KubernetesUnderTest } from "../kubernetes/start-kubernetes.ts";
import { addKedaKinds, removeKedaKinds } from "./keda-kinds.ts";

const NAMESPACE = "keda";

/** The real operator of KEDA, without its metrics adapter: only triggers of type `cpu` and `memory` have values. */
export interface KedaUnderTest extends AsyncDisposable {
  readonly process: RunningProcess;
  /** Deletes the CRDs of KEDA with all their objects and stops the operator. */
  uninstall(): Promise<void>;
  /** Stops the operator and leaves its objects in the cluster. */
  close(): Promise<void>;
}

/**
 * Installs the CRDs of KEDA and starts its operator against a real cluster.
 *
 * Guarantees: the operator reconciles ScaledObjects of all namespaces when it returns. It listens on loopback only, so
 * several can run on one machine.
 */
export async function startKeda(kubernetes: KubernetesUnderTest): Promise<KedaUnderTest> {
  await addKedaKinds(kubernetes.kubectl);
  await runKubectl(kubernetes.kubectl, ["apply", "-f", "-"], {
    stdin: JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }),
  });
  return onFreePorts(2, async ([healthPort = 0, metricsPort = 0]) => {
    const folder = await makeRunFolder("keda");
    let process: RunningProcess | undefined;
    try {
      await writeCertificates(join(folder.path, "certs"));
      process = await startProcess({
        command: componentFile("keda-operator"),
        args: operatorArgs(kubernetes.kubeconfig, healthPort, metricsPort),
        env: { WATCH_NAMESPACE: "", POD_NAMESPACE: NAMESPACE, KEDA_CLUSTER_OBJECT_NAMESPACE: NAMESPACE },
        cwd: folder.path,
        logFile: join(folder.path, "keda-operator.log"),
      });
      await untilReady(process, async () => (await probe(`http://127.0.0.1:${healthPort}/readyz`)).status === 200);
    } catch (error) {
      await process?.stop(0);
      throw await startFailure("KEDA", folder, error);
    }
    const operator = process;
    const close = async (): Promise<void> => {
      await operator.stop(0);
      await folder.remove();
    };
    const uninstall = async (): Promise<void> => {
      // Stop the operator last: it removes the finalizers of its objects.
      await removeKedaKinds(kubernetes.kubectl);
      await close();
    };
    return { process: operator, uninstall, close, [Symbol.asyncDispose]: close };
  });
}

function operatorArgs(kubeconfig: string, healthPort: number, metricsPort: number): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    "--cert-dir=certs",
    "--enable-prometheus-metrics=false",
    `--health-probe-bind-address=127.0.0.1:${healthPort}`,
    `--metrics-service-bind-address=127.0.0.1:${metricsPort}`,
    // The default protects other clients of the API server; here it only slows down tests.
    "--kube-api-qps=500",
    "--kube-api-burst=1000",
  ];
}

/** The service for the metrics adapter does not start without certificates. */
async function writeCertificates(folder: string): Promise<void> {
  const authority = makeAuthority("keda");
  const { certificate, key } = authority.issue({ commonName: "keda-operator", hosts: ["localhost"] });
  await mkdir(folder);
  await Promise.all([
    writeFile(join(folder, "ca.crt"), authority.certificate),
    writeFile(join(folder, "tls.crt"), certificate),
    writeFile(join(folder, "tls.key"), key),
  ]);
}
