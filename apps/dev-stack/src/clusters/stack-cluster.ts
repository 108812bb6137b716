import { Fault, type Ambient } from "@oaas/foundation";
import { KubeClient } from "@oaas/kube-runtime";
import type { Logger } from "@oaas/observability";
import type { ClassState, ClusterState } from "./cluster-state.ts";
import { CLASS_RUNTIMES } from "./kinds.ts";
import type { ClusterPlan, Progress, RunningCluster, RunningManager, StartCluster, StartManager } from "./ports.ts";
import { installKinds } from "./install-kinds.ts";

/** What a cluster of the stack is started with. */
export interface StackClusterPorts {
  readonly ambient: Ambient;
  readonly logger: Logger;
  /** Refuses ports that are taken. */
  readonly checkPorts: (plan: ClusterPlan) => Promise<void>;
  readonly startCluster: StartCluster;
  readonly startManager: StartManager;
}

const LOOK_DEADLINE_MS = 2_000;
const SHOWN_CLASSES = 100;

/** One cluster of the stack with its manager and its classes. */
export class StackCluster {
  readonly plan: ClusterPlan;
  readonly #ports: StackClusterPorts;
  readonly #losses: string[] = [];
  #doing = "waiting for its turn";
  #isUp = false;
  #cluster: RunningCluster | undefined;
  #client: KubeClient | undefined;
  #manager: RunningManager | undefined;

  constructor(plan: ClusterPlan, ports: StackClusterPorts) {
    this.plan = plan;
    this.#ports = ports;
  }

  /** Refuses taken ports, before anything is started. */
  check(): Promise<void> {
    return this.#ports.checkPorts(this.plan);
  }

  /** Starts everything. When it throws, `close` ends what was begun. */
  async start(progress: Progress): Promise<void> {
    const { ambient, logger } = this.#ports;
    const watched: Progress = { ...progress, now: (step) => progress.now((this.#doing = step)) };
    const cluster = await this.#ports.startCluster(this.plan, watched);
    this.#cluster = cluster;
    cluster.onLoss((loss) => {
      this.#losses.push(loss);
      logger.error("a part of the cluster ended by itself", { cluster: this.plan.name, loss });
    });
    this.#client = new KubeClient({ transport: cluster.connect(), ambient, userAgent: "oaas-local-stack" });
    watched.now("installing our kinds");
    await installKinds(this.#client, ambient);
    watched.now("class runtime manager");
    this.#manager = await this.#ports.startManager(cluster);
    await this.#manager.ready;
    watched.now("up");
    this.#isUp = true;
  }

  /** How it is now; asks the API server. Never throws. */
  async look(): Promise<ClusterState> {
    const known = {
      name: this.plan.name,
      labels: this.plan.labels,
      nodes: this.plan.nodes,
      apiUrl: this.#cluster?.url,
      kubeconfig: this.#cluster?.kubeconfig,
      managerUrl: this.#manager?.url,
    };
    if (!this.#isUp) return { ...known, state: "starting", detail: this.#doing, classes: [] };
    const [loss] = this.#losses;
    if (loss !== undefined) return { ...known, state: "failed", detail: loss, classes: [] };
    try {
      return { ...known, state: "running", detail: undefined, classes: await this.#classes() };
    } catch (thrown) {
      return { ...known, state: "failed", detail: Fault.from(thrown).message, classes: [] };
    }
  }

  /** Where its manager is reached, once it runs. */
  get managerUrl(): string | undefined {
    return this.#manager?.url;
  }

  /** Ends manager, then cluster. */
  async close(): Promise<void> {
    await this.#manager?.close();
    await this.#client?.close();
    await this.#cluster?.close();
  }

  async #classes(): Promise<ClassState[]> {
    const page = await this.#client
      ?.resource(CLASS_RUNTIMES)
      .list({ limit: SHOWN_CLASSES }, { deadlineMs: LOOK_DEADLINE_MS });
    return (page?.items ?? []).map(({ metadata, status }) => ({
      namespace: metadata.namespace ?? "",
      name: metadata.name,
      phase: status?.phase ?? "unseen",
      message: status?.message,
    }));
  }
}
