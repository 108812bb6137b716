import { failedPrecondition } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import type { Transport } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { componentOf, exitText, isPresent, obtain, startCluster, type ComponentName } from "@oaas/real-components";
import type { ClusterPlan, RunningCluster, StartCluster } from "../../clusters/ports.ts";
import type { Progress } from "../../clusters/progress.ts";
import { isClone } from "../examples.ts";
import { startRealMetrics, type RealMetrics } from "./real-metrics.ts";

const WITHOUT = "Or use simulated clusters, which need only Node: npm start";
const STOP_GRACE_MS = 5_000;

/** Starts real Kubernetes control planes with KWOK nodes. Missing components are built once per machine. */
export function createRealClusterStarter(): StartCluster {
  let obtained: Promise<void> | undefined;
  return (plan, progress) => startRealCluster(plan, progress, () => (obtained ??= obtainKubernetes(progress)));
}

async function startRealCluster(
  plan: ClusterPlan,
  progress: Progress,
  obtainComponents: () => Promise<void>,
): Promise<RunningCluster> {
  await obtainComponents();
  const cluster = await startCluster({
    name: `oaas-${plan.name}`,
    folder: plan.folder,
    fsync: true,
    controllerManager: true,
    scheduler: true,
    kwokNodes: plan.nodes,
    onProgress: (part) => progress.step(part),
    ...(plan.apiPort === 0 ? {} : { port: plan.apiPort }),
  });
  // Ignore HTTP proxies of the environment: this is loopback.
  const access = loadAccess({ env: {}, kubeconfig: cluster.kubeconfig });
  const connect = (): Transport => createUndiciTransport(access, realAmbient);
  const metrics = await startMetrics(plan, connect, progress);
  let isClosing = false;
  return {
    url: cluster.url,
    context: `oaas-${plan.name}`,
    kubeconfig: cluster.kubeconfig,
    connect,
    ...(metrics === undefined ? {} : { load: metrics.load }),
    onLoss: (report) => {
      for (const { name, exited, logFile } of [
        ...cluster.processes,
        ...(metrics === undefined ? [] : [metrics.process]),
      ]) {
        void exited.then((exit) => {
          if (!isClosing) report(`${name} ended with ${exitText(exit)}; see ${logFile}`);
        });
      }
    },
    close: async () => {
      isClosing = true;
      await metrics?.close();
      await cluster.stop(STOP_GRACE_MS);
    },
  };
}

/** Without Prometheus the cluster works, and nothing is measured. */
async function startMetrics(
  plan: ClusterPlan,
  connect: () => Transport,
  progress: Progress,
): Promise<RealMetrics | undefined> {
  const component = componentOf("prometheus");
  const report = isPresent(component)
    ? undefined
    : await obtain(component, { onProgress: (text) => progress.step(`prometheus: ${text}`) });
  if (report?.state === "missing") {
    progress.note(`Nothing is measured in ${plan.name}: Prometheus is not available: ${report.reason}`);
    return undefined;
  }
  progress.step("Prometheus");
  return startRealMetrics(plan.folder, connect, realAmbient);
}

async function obtainKubernetes(progress: Progress): Promise<void> {
  await obtainComponents(["etcd", "kubernetes", "kwok"], "--real", progress);
}

/** Obtains the components that a flag needs; throws with the fix if one is not available. */
export async function obtainComponents(
  names: readonly ComponentName[],
  flag: string,
  progress: Progress,
): Promise<void> {
  if (!isClone()) {
    throw failedPrecondition(
      "cluster",
      `the bundle cannot start real clusters: start it without ${flag}, or run npm start -- ${flag} in a clone`,
    );
  }
  const absent = names.map((name) => componentOf(name)).filter((component) => !isPresent(component));
  if (absent.length === 0) return;
  progress.note(
    `Building Kubernetes from source, once for this machine: about ten minutes on two cores. Needs Go 1.26 and network access. ${WITHOUT}`,
  );
  for (const [index, component] of absent.entries()) {
    const title = `${component.name} ${component.version} (${index + 1} of ${absent.length})`;
    const report = await obtain(component, { onProgress: (text) => progress.step(`${title}: ${text}`) });
    if (report.state !== "missing") continue;
    throw failedPrecondition(
      report.name,
      `${report.name} ${report.version} is not available: ${report.reason}\nFix: ${report.remedy}\n${WITHOUT}`,
    );
  }
}
