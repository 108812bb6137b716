import { conditionOfPhase, LifecyclePhase, pascalCase } from "@oaas/contracts/health";
import { abortFault, failedPrecondition, Fault, type Ambient } from "@oaas/foundation";
import { KubeClient } from "@oaas/kube-runtime";
import type { Logger } from "@oaas/observability";
import type { ClassState, ClusterState } from "./cluster-state.ts";
import { lastChange } from "./last-change.ts";
import { LastKnown } from "../last-known.ts";
import type { ClusterPlan, Relay, RunningCluster, RunningManager, StartCluster, StartManager } from "./ports.ts";
import type { Progress } from "./progress.ts";
import { CLASS_RUNTIMES, installCrds } from "./install-crds.ts";

export interface StackClusterPorts {
  readonly ambient: Ambient;
  readonly logger: Logger;
  /** Rejects ports in use. */
  readonly checkPorts: (plan: ClusterPlan) => Promise<void>;
  readonly startCluster: StartCluster;
  readonly startManager: StartManager;
  readonly openRelay: () => Promise<Relay>;
}

const READ_DEADLINE_MS = 2_000;
const MAX_CLASSES = 100;
const NO_PROGRESS: Progress = { step: () => undefined, note: () => undefined };

/** One cluster of the stack with its class runtime manager. */
export class StackCluster {
  readonly plan: ClusterPlan;
  readonly #ports: StackClusterPorts;
  readonly #lastClasses: LastKnown<readonly ClassState[]>;
  #losses: readonly string[] = [];
  #step = "waiting";
  #isUp = false;
  /** Description of the injected fault. */
  #fault: string | undefined;
  #lostNode: string | undefined;
  #cluster: RunningCluster | undefined;
  #client: KubeClient | undefined;
  #manager: RunningManager | undefined;
  #relay: Relay | undefined;

  constructor(plan: ClusterPlan, ports: StackClusterPorts) {
    this.plan = plan;
    this.#ports = ports;
    this.#lastClasses = new LastKnown(ports.ambient.clock);
  }

  /** Rejects ports in use, before anything starts. */
  check(): Promise<void> {
    return this.#ports.checkPorts(this.plan);
  }

  /** Starts cluster and manager. After an error or abort, `close` stops the started parts. */
  async start(progress: Progress, signal?: AbortSignal): Promise<void> {
    const throwIfAborted = (): void => {
      if (signal?.aborted) throw abortFault(signal);
    };
    const tracked: Progress = { ...progress, step: (step) => progress.step((this.#step = step)) };
    this.#relay ??= await this.#ports.openRelay();
    throwIfAborted();
    await this.#startCluster(tracked);
    throwIfAborted();
    tracked.step("class runtime manager");
    await this.#startManager();
    throwIfAborted();
    tracked.step("up");
    this.#isUp = true;
  }

  /** Reads the state from the API server. Never throws. */
  async readState(): Promise<ClusterState> {
    const base = {
      name: this.plan.name,
      labels: this.plan.labels,
      nodes: this.plan.nodes,
      availability: this.plan.availability,
      apiUrl: this.#cluster?.url,
      kubeconfig: this.#cluster?.kubeconfig,
      context: this.#cluster?.context ?? this.plan.name,
      managerUrl: this.#manager?.url,
      metricsUrl: this.#cluster?.load?.metricsUrl,
      loads: this.#cluster?.load?.states() ?? [],
      broken: this.#fault,
    };
    if (!this.#isUp) return { ...base, state: "starting", detail: this.#step, classes: [] };
    const [loss] = this.#losses;
    if (loss !== undefined) return { ...base, state: "failed", detail: loss, classes: [] };
    if (this.#cluster === undefined) return { ...base, state: "failed", detail: this.#fault, classes: [] };
    try {
      return {
        ...base,
        state: "running",
        detail: undefined,
        classes: await this.#lastClasses.read(() => this.#classes()),
      };
    } catch (thrown) {
      return { ...base, state: "failed", detail: Fault.from(thrown).message, classes: [] };
    }
  }

  /** Address of the running manager for the package manager. */
  get managerEndpoint(): string | undefined {
    return this.#manager === undefined ? undefined : this.#relay?.url;
  }

  /** Stops the manager, then the cluster. */
  async close(): Promise<void> {
    await this.#manager?.close();
    await this.#relay?.close();
    await this.#endCluster();
  }

  /** Injects a fault: API server and manager stop at once. */
  async takeDown(): Promise<void> {
    if (this.plan.context !== undefined) {
      throw failedPrecondition(this.plan.name, `${this.plan.name} is an existing cluster; the stack does not stop it`);
    }
    this.#fault = "injected fault: cluster down";
    await this.#killManager();
    await this.#endCluster();
  }

  async bringUp(): Promise<void> {
    await this.#startCluster(NO_PROGRESS);
    await this.#startManager();
    this.#fault = undefined;
  }

  /** Injects a fault: the manager stops at once; workloads keep running. */
  async killManager(): Promise<void> {
    this.#fault = "injected fault: class runtime manager killed";
    await this.#killManager();
  }

  async restartManager(): Promise<void> {
    await this.#startManager();
    this.#fault = undefined;
  }

  /** Injects a fault: the package manager cannot reach the cluster. */
  async isolate(): Promise<void> {
    this.#relay?.cut();
    this.#fault = "injected fault: network partition from the package manager";
  }

  async reconnect(): Promise<void> {
    this.#relay?.restore();
    this.#fault = undefined;
  }

  /** Injects a fault: one simulated node stops responding. */
  async failNode(): Promise<void> {
    const nodes = this.#cluster?.nodes;
    const [name] = nodes?.names ?? [];
    if (nodes === undefined || name === undefined) {
      throw failedPrecondition(
        this.plan.name,
        `${this.plan.name} has no simulated nodes; only simulated nodes can fail`,
      );
    }
    await nodes.fail(name);
    this.#lostNode = name;
    this.#fault = `injected fault: node ${name} not responding`;
  }

  async recoverNode(): Promise<void> {
    if (this.#lostNode !== undefined) await this.#cluster?.nodes?.recover(this.#lostNode);
    this.#lostNode = undefined;
    this.#fault = undefined;
  }

  /** Injects a fault: every function gets many times its load. */
  async raiseLoad(): Promise<void> {
    const load = this.#cluster?.load;
    if (load === undefined) {
      throw failedPrecondition(
        this.plan.name,
        `${this.plan.name} has no simulated load; only simulated clusters have it`,
      );
    }
    load.setSpike(true);
    this.#fault = "injected fault: load spike";
  }

  async lowerLoad(): Promise<void> {
    this.#cluster?.load?.setSpike(false);
    this.#fault = undefined;
  }

  async #startCluster(progress: Progress): Promise<void> {
    const { ambient, logger } = this.#ports;
    const cluster = await this.#ports.startCluster(this.plan, progress);
    this.#cluster = cluster;
    this.#losses = [];
    cluster.onLoss((loss) => {
      this.#losses = [...this.#losses, loss];
      logger.error("cluster process ended unexpectedly", { cluster: this.plan.name, loss });
    });
    this.#client = new KubeClient({ transport: cluster.connect(), ambient, userAgent: "oaas-local-stack" });
    progress.step("installing CRDs");
    await installCrds(this.#client, ambient);
  }

  async #startManager(): Promise<void> {
    if (this.#cluster === undefined) return;
    this.#manager = await this.#ports.startManager(this.#cluster);
    await this.#manager.ready;
    this.#relay?.setTarget(this.#manager.url);
  }

  async #killManager(): Promise<void> {
    const manager = this.#manager;
    this.#manager = undefined;
    this.#relay?.setTarget(undefined);
    await manager?.kill();
  }

  async #endCluster(): Promise<void> {
    const [client, cluster] = [this.#client, this.#cluster];
    this.#client = undefined;
    this.#cluster = undefined;
    this.#lastClasses.clear();
    await client?.close();
    await cluster?.close();
  }

  async #classes(): Promise<ClassState[]> {
    const page = await this.#client
      ?.resource(CLASS_RUNTIMES)
      .list({ limit: MAX_CLASSES }, { deadlineMs: READ_DEADLINE_MS });
    return (page?.items ?? []).map(({ metadata, status }) => ({
      namespace: metadata.namespace ?? "",
      name: metadata.name,
      phase: status?.phase ?? "unseen",
      condition: conditionOf(status),
      message: status?.message,
      ...lastChange(status?.enforcement_state),
    }));
  }
}

/** The part of a class runtime's status that holds its condition. */
interface ReportedHealth {
  readonly phase?: string | undefined;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined;
}

function conditionOf(status: ReportedHealth | undefined): string {
  const phase = Object.values(LifecyclePhase).find((known) => known === status?.phase);
  if (phase === undefined) return "Unknown";
  const isServing = status?.conditions?.some(({ type, status: value }) => type === "Available" && value === "True");
  return pascalCase(conditionOfPhase(phase, isServing === true));
}
