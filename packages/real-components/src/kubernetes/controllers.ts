import { onFreePorts } from "../process/free-ports.ts";
import { probe } from "../process/http-probe.ts";
import type { RunningProcess } from "../process/running-process.ts";
import type { ApiServer } from "./api-server.ts";
import { startInFolder } from "./cluster-folder.ts";

/** Starts the controller manager and waits until it has created the default service account. */
export function startControllerManager(
  api: ApiServer,
  folder: string,
  extraArgs: readonly string[] = [],
): Promise<RunningProcess> {
  const account = "/api/v1/namespaces/default/serviceaccounts/default";
  return startInFolder(folder, {
    program: "kube-controller-manager",
    args: [
      `--kubeconfig=${api.files.kubeconfig}`,
      `--service-account-private-key-file=${api.files.accountKey}`,
      `--root-ca-file=${api.files.caFile}`,
      "--use-service-account-credentials=false",
      "--leader-elect=false",
      "--secure-port=0",
      // The default of 20 requests per second protects other clients; here it only slows down tests.
      "--kube-api-qps=500",
      "--kube-api-burst=1000",
      ...extraArgs,
    ],
    isReady: async () => (await api.get(account)).status === 200,
  });
}

/** Starts the scheduler and waits until its caches are synced. */
export function startScheduler(api: ApiServer, folder: string): Promise<RunningProcess> {
  const { ca, files } = api;
  return onFreePorts(1, ([port = 0]) =>
    startInFolder(folder, {
      program: "kube-scheduler",
      args: [
        `--kubeconfig=${files.kubeconfig}`,
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        `--secure-port=${port}`,
        `--tls-cert-file=${files.serverCert}`,
        `--tls-private-key-file=${files.serverKey}`,
      ],
      isReady: async () => (await probe(`https://127.0.0.1:${port}/readyz`, { ca })).status === 200,
    }),
  );
}
