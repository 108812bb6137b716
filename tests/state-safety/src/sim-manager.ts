import { create } from "@bufbuild/protobuf";
import { OdgmStatusSchema, type OdgmStatus } from "@oaas/contracts/grpc";
import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import { Fault, internal, randomInt, unavailable } from "@oaas/foundation";
import { hashJson } from "@oaas/foundation/hash";
import type { ObjectKey } from "@oaas/kube-core";
import { NOOP_LOGGER } from "@oaas/observability";
import type { Entries } from "@oaas/test-store";
import { odgmStatusToWire } from "../../../apps/class-runtime-manager/src/mapping/status/status-parts-to-wire.ts";
import { readNodes } from "../../../apps/class-runtime-manager/src/odgm-health/read-nodes.ts";
import { assessStore } from "../../../apps/class-runtime-manager/src/state-store/assess-store.ts";
import {
  decideRestart,
  nextRecord,
  type RestartDecision,
  type RestartInput,
  type StoreReading,
} from "../../../apps/class-runtime-manager/src/state-store/decide-restart.ts";
import {
  answerTurn,
  formatRestartRecord,
  parseRestartRecord,
} from "../../../apps/class-runtime-manager/src/state-store/restart-record.ts";
import {
  configurationStatus,
  restartStatus,
  type ConfigurationStatus,
} from "../../../apps/class-runtime-manager/src/state-store/restart-status.ts";
import {
  isRunning,
  readRunningStore,
  type RunningStore,
} from "../../../apps/class-runtime-manager/src/state-store/running-store.ts";
import { changedGates } from "../../../apps/class-runtime-manager/src/state-store/shard-gates.ts";
import type {
  StoreNode as NodeClient,
  StoreNodes,
} from "../../../apps/class-runtime-manager/src/state-store/store-nodes.ts";
import { renderStore, specId, type StoreEnvironment } from "./render-store.ts";
import type { SimCluster, SimPod } from "./sim-cluster.ts";
import type { World } from "./world.ts";

const CHECK_TIMEOUT_MS = 1_000;
const CHECK_INTERVAL_MS = 10_000;
/** Another process takes over within this time. */
const MAX_DOWN_MS = 40_000;

/** A change of a unit, as it was sent. */
export interface SentUnit {
  readonly revision: number;
  readonly spec: ClassRuntimeSpec;
}

/** The class runtime manager of one cluster, with its pure parts and a model of its shell. */
export class SimManager {
  readonly cluster: SimCluster;
  readonly #world: World;
  /** Survives the manager: objects in the cluster. */
  unit: SentUnit | undefined;
  /** Edits of the object by kubectl. */
  edited: ClassRuntimeSpec | undefined;
  environment: StoreEnvironment = { image: 1, log: "INFO", routers: 0 };
  #annotation: string | undefined;
  #configuration: ConfigurationStatus | undefined;
  #status: OdgmStatus | undefined;
  /** In memory. */
  #reading: StoreReading | undefined;
  #details: ReturnType<typeof assessStore> | undefined;
  #life = 0;
  isDown = false;
  /** A node started or ended since the last check. */
  isDue = true;
  /** Whether the package manager can reach it. */
  isCutOff = false;
  #checking: Promise<void> | undefined;
  #checkedAtMs = 0;
  #checks = 0;
  #handled: string | undefined;

  constructor(cluster: SimCluster, world: World) {
    this.cluster = cluster;
    this.#world = world;
  }

  /** Dies: what it had in memory is gone, also in the middle of a pass. */
  crash(): void {
    this.#world.trace(`${this.cluster.name}: manager dies`);
    this.isDown = true;
    this.#life += 1;
    this.#reading = undefined;
    this.#details = undefined;
    this.#checking = undefined;
    this.#handled = undefined;
    this.#world.after(randomInt(this.#world.random, MAX_DOWN_MS), () => (this.isDown = false));
  }

  deploy(sent: SentUnit): void {
    this.#assertReachable();
    if ((this.unit?.revision ?? 0) > sent.revision) return;
    if (this.unit?.revision !== sent.revision) this.edited = undefined;
    this.unit = sent;
  }

  /** Removes the class with all its objects. */
  remove(): void {
    this.unit = undefined;
    this.edited = undefined;
    this.#annotation = undefined;
    this.#configuration = undefined;
    this.#status = undefined;
    this.cluster.apply([], new Set());
  }

  /** What changes while something is going on. */
  get summary(): string {
    const pods = [...this.cluster.pods.values()].map(
      (pod) => `${pod.uid} ${pod.node?.shards.length} ${this.cluster.isReady(pod)}`,
    );
    const { writable, restart, missingShards = [] } = this.#status ?? {};
    return `${this.cluster.name}: ${pods.join(", ")}; writable ${writable}, missing ${missingShards.length}, restart ${restart?.state} ${restart?.message}`;
  }

  report(): OdgmStatus | undefined {
    this.#assertReachable();
    return this.#status;
  }

  #assertReachable(): void {
    if (this.isDown || this.isCutOff) throw unavailable(this.cluster.name, "it does not answer");
  }

  /** What grantRestart does. */
  grant(nodeId: number, turnId: string): boolean {
    this.#assertReachable();
    const node = this.#running()?.members.find((member) => member.nodeId === nodeId);
    const restart = this.#status?.restart;
    const isDue = restart?.state === "WaitingForTurn" || restart?.state === "Restarting";
    const granted = answerTurn(parseRestartRecord(this.#annotation), {
      id: turnId,
      nodeId,
      podUid: node !== undefined && isRunning(node) ? node.pod.uid : undefined,
      isMember: node !== undefined,
      isNeeded: isDue && restart.nodes.includes(BigInt(nodeId)),
      nowMs: this.#world.now,
    });
    this.#annotation = formatRestartRecord(granted.record);
    const answer = granted.accepted ? "accepted" : "declined";
    this.#world.trace(`${this.cluster.name}: turn ${turnId} for node ${nodeId} is ${answer}`);
    return granted.accepted;
  }

  #running(): RunningStore | undefined {
    const nodes = Object.values(this.#spec?.odgm_config?.env_node_ids ?? {}).flat();
    return readRunningStore(this.cluster.children, this.cluster.podObjects(), nodes);
  }

  get #spec(): ClassRuntimeSpec | undefined {
    return this.edited ?? this.unit?.spec;
  }

  #input(running: RunningStore): RestartInput {
    this.#configuration = configurationStatus(running, this.#configuration, this.#world.now);
    const input: RestartInput = {
      nowMs: this.#world.now,
      allowRestart: false,
      isChecked: true,
      layout: running.layout,
      members: running.members,
      reading: this.#reading,
      settingsChangedAtMs: Date.parse(this.#configuration.since),
      record: parseRestartRecord(this.#annotation),
    };
    return this.#world.mutant.input?.(input) ?? input;
  }

  /** One pass: applies the class, then restarts at most one node. Dies at the given point. */
  reconcile(dieAt?: "before-record" | "before-deletion" | "before-status"): void {
    const spec = this.#spec;
    if (this.isDown || spec === undefined || this.#handled === this.#cause(spec)) return;
    const { manifests, kept } = renderStore(this.cluster, spec, this.environment);
    if (this.#world.mutant.recreatesPods === true) this.#recreate(() => this.cluster.apply(manifests, kept));
    else this.cluster.apply(manifests, kept);
    const running = this.#running();
    if (running === undefined) return;
    const input = this.#input(running);
    const decision = decideRestart(input);
    if (dieAt === "before-record") return this.crash();
    this.#annotation = formatRestartRecord(nextRecord(input, decision));
    if (dieAt === "before-deletion") return this.crash();
    // A decision that waits is made again.
    this.#handled = decision.kind === "none" || decision.kind === "pending" ? this.#cause(spec) : undefined;
    if (decision.kind === "restart") this.#restart(decision, running);
    if (dieAt === "before-status") return this.crash();
    this.#writeStatus(decision, running);
  }

  /** What a pass depends on: without a change there is nothing to do. */
  #cause(spec: ClassRuntimeSpec): string {
    const { image, log, routers } = this.environment;
    return [specId(spec), image, log, routers, this.cluster.version, this.#checks, this.#annotation].join(" ");
  }

  #restart(decision: Extract<RestartDecision, { kind: "restart" }>, running: RunningStore): void {
    this.#world.trace(`${this.cluster.name}: restarts node ${decision.nodeId}: ${decision.reason}`);
    this.cluster.delete(decision.pod.key.name, decision.pod.uid);
    const others = this.#world.mutant.alsoRestarts?.(decision, running) ?? [];
    for (const { key, uid } of others) this.cluster.delete(key.name, uid);
  }

  /** A Deployment replaces all its pods when their template changes. */
  #recreate(apply: () => void): void {
    const revisions = () =>
      this.cluster.children.map(({ kind, metadata, ...rest }) =>
        [kind, metadata.name, hashJson((rest as { spec?: { template?: unknown } }).spec?.template ?? 0)].join(),
      );
    const before = revisions();
    apply();
    if (before.length === 0 || before.join("\n") === revisions().join("\n")) return;
    for (const pod of this.cluster.pods.values()) this.cluster.delete(pod.name, pod.uid);
  }

  #writeStatus(decision: RestartDecision, running: RunningStore): void {
    const pods = running.members.length;
    const ready = [...this.cluster.pods.values()].filter((pod) => this.cluster.isReady(pod)).length;
    const restart = restartStatus(decision);
    const { reading } = this.#details ?? {};
    this.#status = create(
      OdgmStatusSchema,
      odgmStatusToWire({
        ...reading?.details,
        ready: reading?.healthy === true,
        desired_replicas: pods,
        ready_replicas: Math.min(ready, pods),
        ...(restart === undefined ? {} : { restart: { ...restart, nodes: [...(restart.nodes ?? [])] } }),
      }),
    );
  }

  /** Starts a check of the nodes if one is due; slow nodes take time. */
  check(): Promise<void> {
    const isHealthy = this.#details?.reading.healthy === true;
    const everyMs = isHealthy ? CHECK_INTERVAL_MS : 1_000;
    if (this.isDown || (!this.isDue && this.#world.now - this.#checkedAtMs < everyMs)) return Promise.resolve();
    this.isDue = false;
    this.#checkedAtMs = this.#world.now;
    this.#checking ??= this.#check().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  async #check(): Promise<void> {
    const life = this.#life;
    const running = this.#running();
    if (running === undefined) return;
    const deadline = AbortSignal.any([this.#world.stop]);
    const deps = {
      nodes: this.#nodes(),
      ambient: this.#world.ambient,
      logger: NOOP_LOGGER,
      timeoutMs: CHECK_TIMEOUT_MS,
    };
    const found = await readNodes(running, "oaas.health.orders", deps, deadline);
    if (life !== this.#life) return;
    this.#checks += 1;
    this.#details = assessStore(running, found, this.#reading, this.#world.now);
    this.#reading = this.#details?.store;
    for (const { pod, condition } of changedGates(running, found.answers, this.#world.now)) {
      const sim = this.cluster.pods.get(pod.key.name);
      if (sim?.uid === pod.uid) sim.shardsCondition = condition;
      this.cluster.version += 1;
    }
  }

  #nodes(): StoreNodes {
    return {
      open: async ({ name }: ObjectKey): Promise<NodeClient> => {
        const pod = this.cluster.pods.get(name);
        if (pod?.node === undefined) throw unavailable(name, "it has no address");
        return this.#client(pod);
      },
    };
  }

  #client(pod: SimPod): NodeClient {
    const node = pod.node;
    const answer = async <T>(work: () => Promise<T>): Promise<T> => {
      if (pod.answering === "wrongly") throw internal("the store fails");
      if (pod.answering === "slowly") await this.#world.sleep(3 * CHECK_TIMEOUT_MS);
      if (node === undefined || pod.node !== node) throw unavailable(pod.name, "the connection broke");
      return work();
    };
    return {
      address: `${pod.name}:8080`,
      shards: () =>
        answer(async () =>
          (await node!.stats()).map(({ collection, partition, shard, count }) => ({
            collection,
            partition,
            shard,
            objects: count,
          })),
        ),
      capabilities: async () => undefined,
      list: () => Promise.reject(new Fault({ kind: "unimplemented", feature: "list" }, "not modelled")),
      get: ({ collection, partition, id }) =>
        answer(async () => {
          const object = node!.shard(collection, partition)?.objects.get(id);
          return (
            object && ({ metadata: { objectVersion: object.version }, entries: entriesToWire(object.entries) } as never)
          );
        }),
      set: ({ collection, partition, id }, object) =>
        answer(() => node!.set({ collection, partition, id }, entriesOf(object as never))),
      delete: ({ collection, partition, id }) => answer(() => node!.delete({ collection, partition, id })),
      close: () => undefined,
    };
  }
}

type WireEntries = Readonly<Record<string, { readonly data: Uint8Array; readonly type: number }>>;

function entriesOf({ entries }: { readonly entries: WireEntries }): Entries {
  return new Map(Object.entries(entries).map(([key, { data, type }]) => [key, { data, type }]));
}

function entriesToWire(entries: Entries): WireEntries {
  return Object.fromEntries(entries);
}
