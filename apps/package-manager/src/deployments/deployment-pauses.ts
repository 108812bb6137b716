import { failedPrecondition, invalidArgument, notFound, timestamp, type Ambient } from "@oaas/foundation";
import { MAX_PAUSE_SECONDS, type DeploymentKey, type DeploymentPause } from "@oaas/models";
import { Collection, CollectionView, type KeyValueStore, type Transaction } from "@oaas/storage";
import { retryOnConflict } from "../concurrency.ts";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import { PAUSES } from "../stores/pause-store.ts";
import type { Call, PauseRequest, Pauses } from "../use-cases.ts";

export interface DeploymentPausesOptions {
  readonly store: KeyValueStore;
  readonly deployments: Pick<DeploymentStore, "get">;
  readonly ambient: Ambient;
}

/**
 * The pauses of deployments, durable and the same in every process on the store.
 *
 * *Guarantees*: a change that is committed after a pause was accepted is rejected, in every process; a pause ends by itself.
 */
export class DeploymentPauses implements Pauses {
  readonly #options: DeploymentPausesOptions;
  readonly #pauses: Collection<DeploymentPause>;
  readonly #view: CollectionView<DeploymentPause>;
  readonly #listeners = new Set<() => void>();

  constructor(options: DeploymentPausesOptions) {
    this.#options = options;
    this.#pauses = new Collection<DeploymentPause>(options.store, PAUSES);
    this.#view = new CollectionView(this.#pauses, {
      ambient: options.ambient,
      onChange: () => this.#listeners.forEach((listener) => listener()),
    });
  }

  start(): Promise<void> {
    return this.#view.start();
  }

  close(): Promise<void> {
    return this.#view.close();
  }

  /** Calls the listener when a pause begins or is ended by a user, in any process. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** The pause of a deployment, from the view in memory; undefined when it has none, or it has ended. */
  of(key: DeploymentKey): DeploymentPause | undefined {
    return this.#current(this.#view.get(key)?.record);
  }

  /** The number of paused deployments. */
  get count(): number {
    let count = 0;
    for (const { record } of this.#view.all()) if (this.#current(record) !== undefined) count += 1;
    return count;
  }

  async pause(key: DeploymentKey, request: PauseRequest, { caller, reason }: Call): Promise<void> {
    const nowMs = this.#options.ambient.clock.now();
    const pause: DeploymentPause = {
      by: caller,
      at: timestamp(nowMs),
      until: timestamp(endOf(request, nowMs)),
      ...(reason === undefined ? {} : { reason }),
    };
    await this.#commit(key, async () => {
      const found = await this.#pauses.get(key);
      return found === undefined ? this.#pauses.stageCreate(key, pause) : this.#pauses.stageUpdate(found, pause);
    });
  }

  async resume(key: DeploymentKey): Promise<void> {
    await this.#commit(key, async () => {
      const found = await this.#pauses.get(key);
      return found && this.#pauses.stageDelete(found);
    });
  }

  /** Conditions of a change of the deployment. Throws failed-precondition while it is paused. */
  async stageUnpaused(key: DeploymentKey): Promise<Transaction> {
    const found = await this.#pauses.get(key);
    const pause = this.#current(found?.record);
    if (pause !== undefined) {
      throw failedPrecondition(`deployment "${key}"`, `deployment "${key}" is ${pauseText(pause)}`, {
        code: "OAAS_DEPLOYMENT_HELD",
      });
    }
    const { conditions = [] } =
      found === undefined ? this.#pauses.stageCreate(key, UNUSED) : this.#pauses.stageUpdate(found, found.record);
    return { conditions, writes: [] };
  }

  #current(pause: DeploymentPause | undefined): DeploymentPause | undefined {
    return pause !== undefined && Date.parse(pause.until) > this.#options.ambient.clock.now() ? pause : undefined;
  }

  async #commit(key: DeploymentKey, stage: () => Promise<Transaction | undefined>): Promise<void> {
    if ((await this.#options.deployments.get(key)) === undefined) throw notFound("deployment", key);
    const committed = await retryOnConflict(async () => {
      const transaction = await stage();
      return transaction && this.#options.store.commit(transaction);
    });
    if (committed !== undefined) await this.#view.waitForRevision(committed.revision);
  }
}

/** Only the condition of its transaction is used. */
const UNUSED: DeploymentPause = { by: "", at: "", until: "" };

/** A pause in words, with the way to end it. */
export function pauseText({ by, until, reason }: DeploymentPause): string {
  const why = reason === undefined ? "" : `: ${reason}`;
  return `paused by ${by} until ${until}${why}; wait, or resume it with POST /api/v1/deployments/{key}/resume`;
}

function endOf({ until, durationSeconds }: PauseRequest, nowMs: number): number {
  if ((until === undefined) === (durationSeconds === undefined)) {
    const message = until === undefined ? "is missing" : "excludes until";
    const fix = "set either until or duration_secs";
    throw invalidArgument("the pause", [{ path: "$.duration_secs", message, fix }]);
  }
  const endMs = until === undefined ? nowMs + (durationSeconds ?? 0) * 1000 : Date.parse(until);
  const latestMs = nowMs + MAX_PAUSE_SECONDS * 1000;
  if (endMs > nowMs && endMs <= latestMs) return endMs;
  const [message, fix] =
    endMs > nowMs
      ? ["is more than 90 days away", `state ${timestamp(latestMs)} or earlier; pause again to prolong it`]
      : ["is not in the future", "state a later time"];
  throw invalidArgument("the pause", [{ path: "$.until", message, fix }]);
}
