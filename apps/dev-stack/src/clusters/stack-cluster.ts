import { abortFault, failedPrecondition, Fault, type Ambient } from "@oaas/foundation";
import { KubeClient } from "@oaas/kube-runtime";
import type { Logger } from "@oaas/observability";
import type { ClassState, ClusterState } from "./cluster-state.ts";
import { LastLook } from "../last-look.ts";
import { CLASS_RUNTIMES } from "./kinds.ts";
import type {
  ClusterPlan,
  Progress,
  Relay,
  RunningCluster,
  RunningManager,
  StartCluster,
  StartManager,
} from "./ports.ts";
import { installKinds } from "./install-kinds.ts";

/** What a cluster of the stack is started with. */
export interface StackClusterPorts {
  readonly ambient: Ambient;
  readonly logger: Logger;
  /** Refuses ports that are taken. */
  readonly checkPorts: (plan: ClusterPlan) => Promise<void>;
  readonly startCluster: StartCluster;
  readonly startManager: StartManager;
  readonly openRelay: () => Promise<Relay>;
}

const LOOK_DEADLINE_MS = 2_000;
const SHOWN_CLASSES = 100;
const SILENT: Progress = { now: () => undefined, note: () => undefined };

/** One cluster of the stack with its manager and its classes. */
export class StackCluster {
  readonly plan: ClusterPlan;
  readonly #ports: StackClusterPorts;
  readonly #seen: LastLook<readonly ClassState[]>;
  #losses: readonly string[] = [];
  #doing = "waiting for its turn";
  #isUp = false;
  /** What was broken on purpose, in words. */
  #broken: string | undefined;
  #lostNode: string | undefined;
  #cluster: RunningCluster | undefined;
  #client: KubeClient | undefined;
  #manager: RunningManager | undefined;
  #relay: Relay | undefined;

  constructor(plan: ClusterPlan, ports: StackClusterPorts) {
    this.plan = plan;
    this.#ports = ports;
    this.#seen = new LastLook(ports.ambient.clock);
  }

  /** Refuses taken ports, before anything is started. */
  check(): Promise<void> {
    return this.#ports.checkPorts(this.plan);
  }

  /** Starts everything; ends early when the signal says so. When it throws, `close` ends what was begun. */
  async start(progress: Progress, signal?: AbortSignal): Promise<void> {
    const going = (): void => {
      if (signal?.aborted) throw abortFault(signal);
    };
    const watched: Progress = { ...progress, now: (step) => progress.now((this.#doing = step)) };
    this.#relay ??= await this.#ports.openRelay();
    going();
    await this.#startCluster(watched);
    going();
    watched.now("class runtime manager");
    await this.#startManager();
    going();
    watched.now("up");
    this.#isUp = true;
  }

  /** How it is now; asks the API server. Never throws. */
  async look(): Promise<ClusterState> {
    const known = {
      name: this.plan.name,
      labels: this.plan.labels,
      nodes: this.plan.nodes,
      availability: this.plan.availability,
      apiUrl: this.#cluster?.url,
      kubeconfig: this.#cluster?.kubeconfig,
      context: this.#cluster?.context ?? this.plan.name,
      managerUrl: this.#manager?.url,
      broken: this.#broken,
    };
    if (!this.#isUp) return { ...known, state: "starting", detail: this.#doing, classes: [] };
    const [loss] = this.#losses;
    if (loss !== undefined) return { ...known, state: "failed", detail: loss, classes: [] };
    if (this.#cluster === undefined) return { ...known, state: "failed", detail: this.#broken, classes: [] };
    try {
      return { ...known, state: "running", detail: undefined, classes: await this.#seen.at(() => this.#classes()) };
    } catch (thrown) {
      return { ...known, state: "failed", detail: Fault.from(thrown).message, classes: [] };
    }
  }

  /** Where the package manager reaches its manager, once it runs. */
  get wayIn(): string | undefined {
    return this.#manager === undefined ? undefined : this.#relay?.url;
  }

  /** Ends manager, then cluster. */
  async close(): Promise<void> {
    await this.#manager?.close();
    await this.#relay?.close();
    await this.#endCluster();
  }

  /** Its API server and its manager are gone from one moment to the next. */
  async takeDown(): Promise<void> {
    if (this.plan.context !== undefined) {
      throw failedPrecondition(this.plan.name, `${this.plan.name} is not the stack's own cluster; it is not stopped`);
    }
    this.#broken = "the whole cluster is down, on purpose";
    await this.#killManager();
    await this.#endCluster();
  }

  async bringUp(): Promise<void> {
    await this.#startCluster(SILENT);
    await this.#startManager();
    this.#broken = undefined;
  }

  /** Its manager is gone from one moment to the next; what it made goes on. */
  async killManager(): Promise<void> {
    this.#broken = "its manager is killed, on purpose";
    await this.#killManager();
  }

  async reviveManager(): Promise<void> {
    await this.#startManager();
    this.#broken = undefined;
  }

  /** The package manager can no longer reach it; inside everything goes on. */
  async cutOff(): Promise<void> {
    this.#relay?.cut();
    this.#broken = "cut off from the package manager, on purpose";
  }

  async join(): Promise<void> {
    this.#relay?.mend();
    this.#broken = undefined;
  }

  /** One of its nodes is silent. */
  async loseNode(): Promise<void> {
    const nodes = this.#cluster?.nodes;
    const [name] = nodes?.names ?? [];
    if (nodes === undefined || name === undefined) {
      throw failedPrecondition(this.plan.name, `${this.plan.name} has no simulated nodes; only such can be lost`);
    }
    await nodes.lose(name);
    this.#lostNode = name;
    this.#broken = `node ${name} is silent, on purpose`;
  }

  async findNode(): Promise<void> {
    if (this.#lostNode !== undefined) await this.#cluster?.nodes?.find(this.#lostNode);
    this.#lostNode = undefined;
    this.#broken = undefined;
  }

  async #startCluster(progress: Progress): Promise<void> {
    const { ambient, logger } = this.#ports;
    const cluster = await this.#ports.startCluster(this.plan, progress);
    this.#cluster = cluster;
    this.#losses = [];
    cluster.onLoss((loss) => {
      this.#losses = [...this.#losses, loss];
      logger.error("a part of the cluster ended by itself", { cluster: this.plan.name, loss });
    });
    this.#client = new KubeClient({ transport: cluster.connect(), ambient, userAgent: "oaas-local-stack" });
    progress.now("installing our kinds");
    await installKinds(this.#client, ambient);
  }

  async #startManager(): Promise<void> {
    if (this.#cluster === undefined) return;
    this.#manager = await this.#ports.startManager(this.#cluster);
    await this.#manager.ready;
    this.#relay?.leadTo(this.#manager.url);
  }

  async #killManager(): Promise<void> {
    const manager = this.#manager;
    this.#manager = undefined;
    this.#relay?.leadTo(undefined);
    await manager?.kill();
  }

  async #endCluster(): Promise<void> {
    const [client, cluster] = [this.#client, this.#cluster];
    this.#client = undefined;
    this.#cluster = undefined;
    this.#seen.forget();
    await client?.close();
    await cluster?.close();
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
