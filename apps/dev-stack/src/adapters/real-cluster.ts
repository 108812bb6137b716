import { failedPrecondition } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { componentOf, exitText, isPresent, obtain, startCluster } from "@oaas/real-components";
import type { ClusterPlan, Progress, RunningCluster, StartCluster } from "../clusters/ports.ts";
import { isCheckout } from "./examples.ts";

const WITHOUT = "Or start with simulated clusters, which need nothing but Node: npm start";
const STOP_GRACE_MS = 5_000;

/** Starts real Kubernetes clusters (API server, controller manager, scheduler, etcd) with KWOK's nodes; what is missing is built once for all. */
export function realClusterStarter(): StartCluster {
  let obtained: Promise<void> | undefined;
  return (plan, progress) => startRealCluster(plan, progress, () => (obtained ??= obtainKubernetes(progress)));
}

async function startRealCluster(
  plan: ClusterPlan,
  progress: Progress,
  obtainOnce: () => Promise<void>,
): Promise<RunningCluster> {
  await obtainOnce();
  const cluster = await startCluster({
    name: `oaas-${plan.name}`,
    folder: plan.folder,
    fsync: true,
    controllerManager: true,
    scheduler: true,
    kwokNodes: plan.nodes,
    tell: (part) => progress.now(part),
    ...(plan.apiPort === 0 ? {} : { port: plan.apiPort }),
  });
  // Proxies of the environment are for the world outside; this is loopback.
  const access = loadAccess({ env: {}, kubeconfig: cluster.kubeconfig });
  let isClosing = false;
  return {
    url: cluster.url,
    context: `oaas-${plan.name}`,
    kubeconfig: cluster.kubeconfig,
    connect: () => createUndiciTransport(access, realAmbient),
    onLoss: (tell) => {
      for (const { name, exited, logFile } of cluster.processes) {
        void exited.then((exit) => {
          if (!isClosing) tell(`${name} ended with ${exitText(exit)}; its log: ${logFile}`);
        });
      }
    },
    close: async () => {
      isClosing = true;
      await cluster.stop(STOP_GRACE_MS);
    },
  };
}

async function obtainKubernetes(progress: Progress): Promise<void> {
  if (!isCheckout()) {
    throw failedPrecondition(
      "cluster",
      "one bundled file cannot bring a real cluster: start it without --real, or npm start -- --real in a clone",
    );
  }
  const components = (["etcd", "kubernetes", "kwok"] as const).map((name) => componentOf(name));
  const absent = components.filter((component) => !isPresent(component));
  if (absent.length === 0) return;
  progress.note(
    `Kubernetes is built from source now, once for this machine: about ten minutes on two cores; it takes Go 1.26 and the network. ${WITHOUT}`,
  );
  for (const [index, component] of absent.entries()) {
    const title = `${component.name} ${component.version} (${index + 1} of ${absent.length})`;
    const report = await obtain(component, { tell: (text) => progress.now(`${title}: ${text}`) });
    if (report.state !== "missing") continue;
    throw failedPrecondition(
      report.name,
      `${report.name} ${report.version} could not be had: ${report.reason}\nRemedy: ${report.remedy}\n${WITHOUT}`,
    );
  }
}
