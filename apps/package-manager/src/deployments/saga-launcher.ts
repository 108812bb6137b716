import { sleep, type Ambient } from "@oaas/foundation";
import type { DeploymentKey } from "@oaas/models";
import type { CollectionView, Transaction } from "@oaas/storage";
import { ALL_RETAINED, pruneRevisions } from "../history/retention.ts";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import { supersedeRevision } from "../records/deployment-outcome.ts";
import { retainedRevisions, type DeploymentRecord } from "../records/deployment-record.ts";
import { outcomeInForce } from "../records/revision-outcome.ts";
import type { RevisedDeployment } from "../records/desired-deployment.ts";
import type { SagaEngine, StagedSaga } from "../saga-engine/engine.ts";
import type { NewSaga } from "../saga-engine/saga.ts";
import type { SagaReference, WaitResult } from "../saga-engine/waiters.ts";
import type { CommittedRevision } from "../sagas/deploy-class.ts";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import { runningSaga, type DeploymentSnapshot } from "./deployment-snapshot.ts";

export interface SagaLauncherDeps {
  readonly deployments: DeploymentStore;
  readonly view: Pick<CollectionView<DeploymentRecord>, "get">;
  readonly engine: Pick<SagaEngine, "commit" | "stage" | "wait">;
  readonly ambient: Ambient;
  /** How long a caller waits for the saga before it gets `accepted`. */
  readonly waitMs: number;
  /** Revisions to keep in the history of a deployment. */
  readonly history: number;
}

/** A new revision of a deployment with its plan and the saga that rolls it out. */
export interface NewRevision extends RevisedDeployment {
  readonly plan: DeploymentPlan;
  readonly saga: NewSaga;
}

/** A saga that was started, and the result of waiting for it. */
export interface Launched {
  readonly id: string;
  readonly outcome: Promise<WaitResult>;
}

/** A change of a deployment and the saga that carries it out, to be committed alone or with others. */
export interface StagedOperation {
  readonly key: DeploymentKey;
  readonly parts: readonly Transaction[];
  readonly saga: StagedSaga;
}

/** How long a writer waits for the lists of its process to show its write. The write is durable either way. */
const LISTED_WITHIN_MS = 2_000;
const LISTED_POLL_MS = 5;

/** Commits changes of a deployment together with the saga that carries them out, and waits for the saga. */
export class SagaLauncher {
  readonly #deps: SagaLauncherDeps;

  constructor(deps: SagaLauncherDeps) {
    this.#deps = deps;
  }

  /** Commits a revision, its plan, its history entry and its saga in one transaction, with other parts. */
  async commitRevision(
    snapshot: DeploymentSnapshot,
    revision: NewRevision,
    also: readonly Transaction[] = [],
  ): Promise<Launched> {
    return this.#commitOne(await this.stageRevision(snapshot, revision), also);
  }

  /** Stages a revision, its plan, its history entry and its saga. */
  async stageRevision(
    snapshot: DeploymentSnapshot,
    { record, entry, plan, saga }: NewRevision,
  ): Promise<StagedOperation> {
    const { deployments, history: keep } = this.#deps;
    // The revisions that the deployment runs, is leaving, or falls back to.
    const inUse = [record.desired, record.stable, snapshot.current?.record.desired];
    const isPinned = (revision: number): boolean => inUse.some((each) => each?.revision === revision);
    const { retained, removed } = pruneRevisions(
      snapshot.current === undefined ? ALL_RETAINED : retainedRevisions(snapshot.current.record),
      entry.revision,
      { keep, isPinned },
    );
    const parts = [
      deployments.stagePut(snapshot.key, snapshot.current, { ...record, history: retained }),
      ...deployments.stageRevision(snapshot.key, entry, plan),
      ...removed.flatMap((revision) => deployments.stageForgetRevision(snapshot.key, revision)),
      ...(await this.stageSuperseded(snapshot, `revision ${entry.revision}`)),
    ];
    const committed: CommittedRevision = { entry, plan };
    return this.stage(snapshot, saga, parts, committed);
  }

  /** Commits parts of a transaction together with the next saga of the deployment, and starts it. */
  async launch(snapshot: DeploymentSnapshot, saga: NewSaga, parts: readonly Transaction[]): Promise<Launched> {
    return this.#commitOne(await this.stage(snapshot, saga, parts));
  }

  /** Stages parts of a transaction together with the next saga of the deployment. */
  async stage(
    { key, saga: current }: DeploymentSnapshot,
    saga: NewSaga,
    parts: readonly Transaction[],
    committed?: CommittedRevision,
  ): Promise<StagedOperation> {
    return { key, parts, saga: await this.#deps.engine.stage(current, saga, committed) };
  }

  /** Commits operations and other writes in one transaction, and starts their sagas. */
  async commit(
    operations: readonly StagedOperation[],
    also: readonly Transaction[],
  ): Promise<{ readonly revision: number; readonly launched: ReadonlyMap<DeploymentKey, Launched> }> {
    const parts = [...operations.flatMap((each) => each.parts), ...also];
    const { revision, sagas } = await this.#deps.engine.commit(
      operations.map(({ saga }) => saga),
      parts,
    );
    const launched = new Map<DeploymentKey, Launched>();
    for (const [index, { key }] of operations.entries()) {
      const reference = sagas[index] as SagaReference;
      launched.set(key, { id: reference.id, outcome: this.wait(key, reference) });
    }
    return { revision, launched };
  }

  /** The running saga of the deployment, to be waited for as if it was started now; undefined when none is running. */
  join(snapshot: DeploymentSnapshot): Launched | undefined {
    const running = runningSaga(snapshot);
    if (running === undefined || snapshot.saga === undefined) return undefined;
    const { subject, id } = running.saga;
    return { id, outcome: this.wait(snapshot.key, { subject, id, revision: snapshot.saga.revision }) };
  }

  /** Waits for a saga, at most `waitMs`, then for the lists of this process to show its effect. Never rejects. */
  async wait(key: DeploymentKey, saga: SagaReference): Promise<WaitResult> {
    const result = await this.#deps.engine.wait(saga, { timeoutMs: this.#deps.waitMs });
    await this.#untilListed(key).catch(() => undefined);
    return result;
  }

  /** Closes the history entry of a revision without a settled outcome, because a newer operation replaces it. */
  async stageSuperseded(snapshot: DeploymentSnapshot, by: string): Promise<readonly Transaction[]> {
    const { deployments, ambient } = this.#deps;
    const record = snapshot.current?.record;
    if (record?.desired === undefined || outcomeInForce(record) !== undefined) return [];
    const entry = await deployments.revision(snapshot.key, record.desired.revision);
    if (entry?.record.outcome !== "accepted") return [];
    const saga = runningSaga(snapshot)?.saga;
    return [deployments.stageOutcome(entry, supersedeRevision(entry.record, saga, by, ambient.clock.now()))];
  }

  async #commitOne(operation: StagedOperation, also: readonly Transaction[] = []): Promise<Launched> {
    return (await this.commit([operation], also)).launched.get(operation.key) as Launched;
  }

  async #untilListed(key: DeploymentKey): Promise<void> {
    const { ambient, view, deployments } = this.#deps;
    const revision = (await deployments.get(key))?.revision;
    const isListed = (): boolean =>
      revision === undefined ? view.get(key) === undefined : (view.get(key)?.revision ?? 0) >= revision;
    const until = ambient.clock.monotonic() + LISTED_WITHIN_MS;
    while (!isListed() && ambient.clock.monotonic() < until) await sleep(ambient.timers, LISTED_POLL_MS);
  }
}
