import { join } from "node:path";
import { componentFile } from "../components/component-file.ts";
import { onFreePorts } from "../process/free-ports.ts";
import { probe } from "../process/http-probe.ts";
import { startProcess, type ProcessUnderTest } from "../process/process-under-test.ts";
import { untilReady } from "../process/ready.ts";
import type { ApiServer } from "./api-server.ts";

/** Starts the controller manager and waits until its controllers act: the default service account appears. */
export async function startControllerManager(api: ApiServer, folder: string): Promise<ProcessUnderTest> {
  const manager = await startProcess({
    command: componentFile("kube-controller-manager"),
    args: [
      `--kubeconfig=${api.files.kubeconfig}`,
      `--service-account-private-key-file=${api.files.accountKey}`,
      `--root-ca-file=${api.files.caFile}`,
      "--use-service-account-credentials=false",
      "--leader-elect=false",
      "--secure-port=0",
    ],
    cwd: folder,
    logFile: join(folder, "kube-controller-manager.log"),
  });
  const account = "/api/v1/namespaces/default/serviceaccounts/default";
  await untilReady(manager, async () => (await api.get(account)).status === 200);
  return manager;
}

/** Starts the scheduler and waits until its caches are filled. */
export function startScheduler(api: ApiServer, folder: string, ca: string): Promise<ProcessUnderTest> {
  return onFreePorts(1, async ([port = 0]) => {
    const scheduler = await startProcess({
      command: componentFile("kube-scheduler"),
      args: [
        `--kubeconfig=${api.files.kubeconfig}`,
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        `--secure-port=${port}`,
        `--tls-cert-file=${api.files.serverCert}`,
        `--tls-private-key-file=${api.files.serverKey}`,
      ],
      cwd: folder,
      logFile: join(folder, "kube-scheduler.log"),
    });
    await untilReady(scheduler, async () => (await probe(`https://127.0.0.1:${port}/readyz`, { ca })).status === 200);
    return scheduler;
  });
}
