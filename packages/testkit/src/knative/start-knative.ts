import { join } from "node:path";
import { failedPrecondition } from "@oaas/foundation";
import {
  canBind,
  componentFile,
  freePorts,
  makeRunFolder,
  startFailure,
  startProcess,
  untilReady,
  type ComponentFileName,
  type RunningProcess,
} from "@oaas/real-components";
import type { KubernetesUnderTest } from "../kubernetes/start-kubernetes.ts";
import { addKnativeContent, KNATIVE_IMAGES, KNATIVE_NAMESPACE, removeWebhooks } from "./knative-content.ts";
import { removeKnativeKinds } from "./knative-kinds.ts";

/** The autoscaler of Knative always listens on this port. */
const FIXED_PORT = 8080;

/** Real Knative Serving without its data plane, so nothing scales by load. */
export interface KnativeUnderTest extends AsyncDisposable {
  /** The processes of Knative and of the simulated network layer. */
  readonly processes: readonly RunningProcess[];
  /** Stops it and deletes its CRDs with all their objects. It can be installed again. */
  uninstall(): Promise<void>;
  /** Stops it and leaves its objects in the cluster. */
  close(): Promise<void>;
}

/**
 * Installs and starts real Knative Serving in a cluster with controller manager, scheduler and simulated nodes.
 *
 * Guarantees: it accepts and reconciles services when it returns. Images must start with `dev.local/`; others cannot be
 * resolved. One per machine, and not on a shared network: some ports are fixed or open on all interfaces.
 */
export async function startKnative(kubernetes: KubernetesUnderTest): Promise<KnativeUnderTest> {
  if (!(await canBind(FIXED_PORT))) {
    throw failedPrecondition("knative", `the autoscaler of Knative needs port ${FIXED_PORT}, which is in use`);
  }
  const folder = await makeRunFolder("knative");
  const started: RunningProcess[] = [];
  // SIGKILL: the webhook would drain for most of a minute, and the others need no graceful shutdown.
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((process) => process.stop(0)));
  };
  try {
    await startIn(kubernetes, folder.path, started);
  } catch (error) {
    await stop();
    throw await startFailure("Knative", folder, error);
  }
  const close = async (): Promise<void> => {
    await stop();
    await folder.remove();
  };
  const uninstall = async (): Promise<void> => {
    // Stop the controllers last: some objects cannot be deleted without them.
    await removeKnativeKinds(kubernetes.kubectl);
    await removeWebhooks(kubernetes.kubectl);
    await close();
  };
  return { processes: started, uninstall, close, [Symbol.asyncDispose]: close };
}

/** A program of Knative, or a simulated part of it. */
interface Program {
  readonly program: ComponentFileName;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

async function startIn(kubernetes: KubernetesUnderTest, folder: string, started: RunningProcess[]): Promise<void> {
  // Use a new port for the webhook each time: on a port in use it would run without listening.
  const [webhookPort = 0, networkPort = 0, ...profilingPorts] = await freePorts(5);
  await addKnativeContent(kubernetes.kubectl, webhookPort);
  const programs = [...knativePrograms(webhookPort, profilingPorts), networkLayer(networkPort)];
  for (const { program, args = [], env = {} } of programs) {
    const process = await startProcess({
      command: componentFile(program),
      args: [`--kubeconfig=${kubernetes.kubeconfig}`, ...args],
      env,
      cwd: folder,
      logFile: join(folder, `${program}.log`),
    });
    started.push(process);
  }
  const accepted = createReadinessCheck(kubernetes);
  await Promise.all(started.map((process) => untilReady(process, accepted)));
}

function knativePrograms(webhookPort: number, profilingPorts: readonly number[]): Program[] {
  const own: Record<string, Pick<Program, "args" | "env">> = {
    webhook: { args: ["--disable-ha"], env: { WEBHOOK_NAME: "webhook", WEBHOOK_PORT: String(webhookPort) } },
    controller: {},
    // It writes its address to an EndpointSlice, which rejects loopback addresses. The address is not called.
    autoscaler: { env: { POD_IP: "10.10.255.1" } },
  };
  return Object.entries(own).map(([name, { args = [], env }], index) => ({
    program: `knative-${name}` as ComponentFileName,
    args,
    env: {
      SYSTEM_NAMESPACE: KNATIVE_NAMESPACE,
      CONFIG_LOGGING_NAME: "config-logging",
      CONFIG_OBSERVABILITY_NAME: "config-observability",
      POD_NAME: `${name}-0`,
      PROFILING_PORT: String(profilingPorts[index]),
      ...env,
    },
  }));
}

/** A separate KWOK without nodes, so that Knative can be installed and removed at run time. */
function networkLayer(port: number): Program {
  return {
    program: "kwok",
    args: [
      "--manage-all-nodes=false",
      "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=none",
      `--server-address=127.0.0.1:${port}`,
      "--node-lease-duration-seconds=0",
      `--config=${join(import.meta.dirname, "kingress-ready.yaml")}`,
    ],
  };
}

/** Shares one readiness call among all waiting processes. */
function createReadinessCheck(kubernetes: KubernetesUnderTest): () => Promise<boolean> {
  let asked: Promise<boolean> | undefined;
  return () => (asked ??= acceptsServices(kubernetes).finally(() => (asked = undefined)));
}

async function acceptsServices({ kubectl }: KubernetesUnderTest): Promise<boolean> {
  const service = {
    apiVersion: "serving.knative.dev/v1",
    kind: "Service",
    metadata: { name: "accepted", namespace: "default" },
    spec: { template: { spec: { containers: [{ image: `${KNATIVE_IMAGES}/accepted:v1` }] } } },
  };
  const answer = await kubectl(["create", "--dry-run=server", "-f", "-"], { stdin: JSON.stringify(service) });
  return answer.exitCode === 0;
}
