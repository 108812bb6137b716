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

/** Knative's autoscaler listens there whatever it is told. */
const FIXED_PORT = 8080;

/** Real Knative Serving in a cluster: everything but its data plane, so that nothing scales by load. */
export interface KnativeUnderTest extends AsyncDisposable {
  /** What it runs: its own processes, and the stand-in for a network layer. */
  readonly processes: readonly RunningProcess[];
  /** Ends it and takes its kinds away, and with them every object of theirs. The cluster can have it again. */
  uninstall(): Promise<void>;
  /** Ends it and leaves the cluster as it is. */
  close(): Promise<void>;
}

/**
 * Installs and starts real Knative Serving in a cluster with controller manager, scheduler and simulated nodes.
 *
 * Guarantees: it accepts and reconciles services when it returns. Images must be of `dev.local/`: others are looked up and not found. One per
 * machine, and not on a shared network: some of its ports are fixed or open to all interfaces.
 */
export async function startKnative(kubernetes: KubernetesUnderTest): Promise<KnativeUnderTest> {
  if (!(await canBind(FIXED_PORT))) {
    throw failedPrecondition("knative", `Knative's autoscaler needs port ${FIXED_PORT}, and somebody listens there`);
  }
  const folder = await makeRunFolder("knative");
  const started: RunningProcess[] = [];
  // Killed: the webhook would drain for most of a minute, and the others have nothing to put in order.
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
    // Its controllers go last: some of its objects do not go without them.
    await removeKnativeKinds(kubernetes.kubectl);
    await removeWebhooks(kubernetes.kubectl);
    await close();
  };
  return { processes: started, uninstall, close, [Symbol.asyncDispose]: close };
}

/** A program of Knative's, or one that stands in for a part of it. */
interface Program {
  readonly program: ComponentFileName;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

async function startIn(kubernetes: KubernetesUnderTest, folder: string, started: RunningProcess[]): Promise<void> {
  // The webhook's port is a fresh one each time: on one that is taken it would live on without listening.
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
  const accepted = acceptance(kubernetes);
  await Promise.all(started.map((process) => untilReady(process, accepted)));
}

function knativePrograms(webhookPort: number, profilingPorts: readonly number[]): Program[] {
  const own: Record<string, Pick<Program, "args" | "env">> = {
    webhook: { args: ["--disable-ha"], env: { WEBHOOK_NAME: "webhook", WEBHOOK_PORT: String(webhookPort) } },
    controller: {},
    // It writes its address into an EndpointSlice, which refuses loopback; nobody calls it there.
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

/** A KWOK of its own, which looks after no node, so that a cluster may have Knative late and lose it again. */
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

/** Asks by one call at a time, however many wait for the answer: each also watches over a process of its own. */
function acceptance(kubernetes: KubernetesUnderTest): () => Promise<boolean> {
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
