import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  ClassRuntimeEventType,
  ClassRuntimeSummarySchema,
  conditionWords,
  DeploymentPhase,
  DeployOutcome,
  lifecyclePhaseWords,
  type ClassRuntimeSummary,
  type DeploymentUnit,
  type WatchClassRuntimesResponseSchema,
} from "@oaas/contracts/grpc";
import { alreadyExists, failedPrecondition, timestamp } from "@oaas/foundation";
import { conditionBeforeDegraded, type DeploymentCondition, type LifecyclePhase } from "@oaas/models";

/** The reported status of a unit. */
export interface UnitState {
  readonly condition: DeploymentCondition;
  readonly phase: LifecyclePhase;
  readonly message?: string;
}

/** A stored unit. */
export interface HeldUnit {
  readonly unit: DeploymentUnit;
  readonly state: UnitState;
  readonly generation: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export const RUNNING: UnitState = { condition: "running", phase: "available" };
export const DEPLOYING: UnitState = { condition: "deploying", phase: "progressing" };
export const DOWN: UnitState = { condition: "down", phase: "degraded", message: "Degraded (ImagePull): no such image" };

/** The update failed, and the earlier revision serves. */
export const DEGRADED: UnitState = { ...DOWN, condition: "degraded" };

type WatchEvent = MessageInitShape<typeof WatchClassRuntimesResponseSchema>;

/** The units of a scripted cluster and their changes, for watchers. */
export class ScriptedUnits {
  /** The status of a new unit. */
  settle: (unit: DeploymentUnit) => UnitState = () => RUNNING;
  readonly #namespace: string;
  readonly #rust: boolean;
  readonly #units = new Map<string, HeldUnit>();
  readonly #log: { readonly type: ClassRuntimeEventType; readonly summary: ClassRuntimeSummary }[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(namespace: string, rust: boolean) {
    this.#namespace = namespace;
    this.#rust = rust;
  }

  get size(): number {
    return this.#units.size;
  }

  /** Every unit, by id. */
  all(): HeldUnit[] {
    return [...this.#units.values()].toSorted((a, b) => (a.unit.id < b.unit.id ? -1 : 1));
  }

  get(id: string): HeldUnit | undefined {
    return this.#units.get(id);
  }

  /** Like the real manager: an equal unit changes nothing, an older revision is rejected. The Rust one never updates. */
  put(unit: DeploymentUnit): DeployOutcome {
    const held = this.#units.get(unit.id);
    if (held === undefined) {
      this.#hold(unit, this.settle(unit), undefined);
      return DeployOutcome.CREATED;
    }
    if (held.unit.managedBy !== undefined && unit.managedBy !== held.unit.managedBy && !this.#rust) {
      throw alreadyExists("class runtime", unit.id);
    }
    if (this.#rust) return DeployOutcome.UNSPECIFIED;
    if (unit.revision !== undefined && held.unit.revision !== undefined && unit.revision < held.unit.revision) {
      throw failedPrecondition(`revision ${unit.revision}`, `the cluster has revision ${held.unit.revision}`);
    }
    const same = unit.digest !== undefined && unit.digest === held.unit.digest && unit.revision === held.unit.revision;
    if (same) return DeployOutcome.UNCHANGED;
    this.#hold(unit, this.settle(unit), held);
    return DeployOutcome.UPDATED;
  }

  /** False when the unit did not exist. Rejects an older revision than the stored one, except as the Rust manager. */
  remove(id: string, revision?: bigint): boolean {
    const held = this.#units.get(id);
    if (held === undefined) return false;
    if (!this.#rust && revision !== undefined && revision < (held.unit.revision ?? 0n)) {
      throw failedPrecondition(`revision ${revision}`, `the cluster has revision ${held.unit.revision}`);
    }
    this.#units.delete(id);
    this.#tell(ClassRuntimeEventType.DELETED, held);
    return true;
  }

  /** Changes the reported status of a unit. */
  set(id: string, state: UnitState): void {
    const held = this.#units.get(id);
    if (held === undefined) throw new TypeError(`unit ${id} does not exist`);
    this.#hold(held.unit, state, held);
  }

  summaries(): ClassRuntimeSummary[] {
    return this.all().map((held) => this.summary(held));
  }

  /** The unit in lists and watches; the Rust manager sends no field above 12. */
  summary({ unit, state, generation, createdAtMs, updatedAtMs }: HeldUnit): ClassRuntimeSummary {
    return create(ClassRuntimeSummarySchema, {
      id: unit.id,
      deploymentUnitId: unit.id,
      packageName: unit.packageName,
      classKey: `${unit.packageName}.${unit.classKey}`,
      targetEnvironment: this.#namespace,
      clusterName: this.#namespace,
      status: {
        condition: conditionWords.toWire(conditionBeforeDegraded(state.condition)),
        phase: state.condition === "running" ? DeploymentPhase.PHASE_RUNNING : DeploymentPhase.RESOURCE_PROVISIONING,
        lastUpdated: timestamp(updatedAtMs),
        functions: unit.functions.map(({ functionKey }, index) => ({
          functionKey,
          service: `${unit.id}-fn-${index}`,
          port: 80,
          predictedUrl: `http://${unit.id}-fn-${index}`,
          template: "dev",
          ready: state.condition === "running",
        })),
        ...(state.message === undefined ? {} : { message: state.message }),
        ...(this.#rust
          ? {}
          : {
              lifecyclePhase: lifecyclePhaseWords.toWire(state.phase),
              serving: state.condition === "running" || state.condition === "degraded",
            }),
      },
      createdAt: timestamp(createdAtMs),
      updatedAt: timestamp(updatedAtMs),
      partitionCount: 1,
      ...(this.#rust ? {} : this.#additions(unit, generation)),
    });
  }

  /** The protocol of WatchClassRuntimes: a snapshot or the missed changes, then every change. */
  async *watch(resumeToken: string | undefined, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    let at = resumeToken === undefined || resumeToken === "" ? undefined : Number(resumeToken);
    if (at === undefined || !(at <= this.#log.length)) {
      at = this.#log.length;
      const items = this.summaries();
      yield { type: ClassRuntimeEventType.SNAPSHOT_STARTED };
      for (const classRuntime of items) yield { type: ClassRuntimeEventType.SNAPSHOT_ITEM, classRuntime };
      yield { type: ClassRuntimeEventType.SNAPSHOT_COMPLETE, resumeToken: String(at) };
    }
    while (!signal.aborted) {
      const next = this.#log[at];
      if (next === undefined) {
        await this.#change(signal);
        continue;
      }
      at += 1;
      yield { type: next.type, classRuntime: next.summary, resumeToken: String(at) };
    }
  }

  /** Wakes every watcher, like a bookmark. */
  wake(): void {
    for (const wake of this.#waiting) wake();
  }

  #additions(unit: DeploymentUnit, generation: number) {
    const { revision, digest, deploymentKey, managedBy } = unit;
    return {
      namespace: this.#namespace,
      name: unit.id,
      generation: BigInt(generation),
      ...(revision === undefined ? {} : { revision }),
      ...(digest === undefined ? {} : { digest }),
      ...(deploymentKey === undefined ? {} : { deploymentKey }),
      ...(managedBy === undefined ? {} : { managedBy }),
    };
  }

  #hold(unit: DeploymentUnit, state: UnitState, before: HeldUnit | undefined): void {
    const now = Date.now();
    const held: HeldUnit = {
      unit,
      state,
      generation: (before?.generation ?? 0) + (before?.unit === unit ? 0 : 1),
      createdAtMs: before?.createdAtMs ?? now,
      updatedAtMs: now,
    };
    this.#units.set(unit.id, held);
    this.#tell(before === undefined ? ClassRuntimeEventType.ADDED : ClassRuntimeEventType.MODIFIED, held);
  }

  #tell(type: ClassRuntimeEventType, held: HeldUnit): void {
    this.#log.push({ type, summary: this.summary(held) });
    this.wake();
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }
}
