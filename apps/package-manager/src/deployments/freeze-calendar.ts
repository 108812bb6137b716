import {
  failedPrecondition,
  invalidArgument,
  notFound,
  pathOf,
  ROOT_PATH,
  timestamp,
  type Ambient,
  type Violation,
} from "@oaas/foundation";
import {
  checkText,
  FREEZE_WINDOW_NAME,
  MAX_FREEZE_WINDOWS,
  type ActiveFreeze,
  type ClusterName,
  type DeploymentKey,
  type FreezeWindow,
  type FreezeWindowName,
  type FreezeWindowSpec,
  type FreezeWindowState,
} from "@oaas/models";
import { Collection, CollectionView, type KeyValueStore, type Stored, type Transaction } from "@oaas/storage";
import { retryOnConflict } from "../concurrency.ts";
import type { ClusterDirectory } from "../ports.ts";
import {
  activeFreezes,
  freezeText,
  freezeWindowState,
  nextStart,
  occurrenceAt,
  type FreezeWindows,
} from "../records/freeze-window.ts";
import { ALL_FREEZE_WINDOWS, FREEZE_WINDOWS } from "../stores/freeze-store.ts";
import type { Call, FreezeCalendar } from "../use-cases.ts";

export interface StoredFreezeCalendarOptions {
  readonly store: KeyValueStore;
  readonly clusters: Pick<ClusterDirectory, "list">;
  readonly ambient: Ambient;
}

/**
 * The freeze windows, durable and the same in every process on the store.
 *
 * *Guarantees*: a change that is committed after a window was accepted and has begun is rejected, in every process. Windows
 * stop changes that users and the re-planner choose to make; repairs and the move away from a lost cluster continue.
 */
export class StoredFreezeCalendar implements FreezeCalendar {
  readonly #options: StoredFreezeCalendarOptions;
  readonly #records: Collection<FreezeWindows>;
  readonly #view: CollectionView<FreezeWindows>;
  readonly #listeners = new Set<() => void>();

  constructor(options: StoredFreezeCalendarOptions) {
    this.#options = options;
    this.#records = new Collection<FreezeWindows>(options.store, FREEZE_WINDOWS);
    this.#view = new CollectionView(this.#records, {
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

  /** Calls the listener when a window is set or deleted, in any process. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  list(): readonly FreezeWindowState[] {
    const nowMs = this.#now();
    return this.#windows.windows.map((window) => freezeWindowState(window, nowMs));
  }

  get(name: FreezeWindowName): FreezeWindowState {
    const found = this.list().find((window) => window.name === name);
    if (found === undefined) throw notFound("freeze window", name);
    return found;
  }

  /** The windows that freeze some of these clusters now, from the view in memory. */
  active(clusters: readonly ClusterName[]): readonly ActiveFreeze[] {
    return activeFreezes(this.#windows, clusters, this.#now());
  }

  /** The windows that freeze this cluster now, without those of the whole platform. */
  activeOf(cluster: ClusterName): readonly ActiveFreeze[] {
    const windows = this.#windows.windows.filter(({ clusters }) => clusters.length > 0);
    return activeFreezes({ windows }, [cluster], this.#now());
  }

  async set(name: FreezeWindowName, spec: FreezeWindowSpec, { caller }: Call): Promise<FreezeWindowState> {
    this.#check(name, spec);
    const window: FreezeWindow = { ...spec, name, by: caller, at: timestamp(this.#now()) };
    await this.#commit((found) => {
      const others = (found?.record.windows ?? []).filter((each) => each.name !== name);
      if (others.length >= MAX_FREEZE_WINDOWS) {
        throw failedPrecondition(
          `freeze window "${name}"`,
          `there are ${others.length} freeze windows, the most that are kept: delete those that have ended`,
        );
      }
      return [...others, window].toSorted((a, b) => (a.name < b.name ? -1 : 1));
    });
    return freezeWindowState(window, this.#now());
  }

  async delete(name: FreezeWindowName): Promise<void> {
    await this.#commit((found) => {
      const windows = found?.record.windows ?? [];
      const others = windows.filter((each) => each.name !== name);
      if (others.length === windows.length) throw notFound("freeze window", name);
      return others;
    });
  }

  /**
   * Conditions of a change of the deployment in these clusters. Throws failed-precondition while one of them is frozen.
   */
  async stageUnfrozen(key: DeploymentKey, clusters: readonly ClusterName[]): Promise<Transaction> {
    const found = await this.#records.get(ALL_FREEZE_WINDOWS);
    const freezes = found === undefined ? [] : activeFreezes(found.record, clusters, this.#now());
    if (freezes.length > 0) {
      throw failedPrecondition(
        `deployment "${key}"`,
        `deployment "${key}" is not changed during ${freezeText(freezes)}`,
        { code: "OAAS_DEPLOYMENT_HELD" },
      );
    }
    const { conditions = [] } = this.#stage(found, []);
    return { conditions, writes: [] };
  }

  get #windows(): FreezeWindows {
    return this.#view.get(ALL_FREEZE_WINDOWS)?.record ?? NONE;
  }

  #stage(found: Stored<FreezeWindows> | undefined, windows: readonly FreezeWindow[]): Transaction {
    return found === undefined
      ? this.#records.stageCreate(ALL_FREEZE_WINDOWS, { windows })
      : this.#records.stageUpdate(found, { windows });
  }

  async #commit(next: (found: Stored<FreezeWindows> | undefined) => readonly FreezeWindow[]): Promise<void> {
    const { revision } = await retryOnConflict(async () => {
      const found = await this.#records.get(ALL_FREEZE_WINDOWS);
      return this.#options.store.commit(this.#stage(found, next(found)));
    });
    await this.#view.waitForRevision(revision);
  }

  #check(name: FreezeWindowName, spec: FreezeWindowSpec): void {
    const nowMs = this.#now();
    const known = this.#options.clusters.list().map((entry) => entry.name);
    const violations: Violation[] = [
      ...checkText(FREEZE_WINDOW_NAME, name, pathOf(ROOT_PATH, "name")),
      ...spec.clusters.flatMap((cluster, index) =>
        known.includes(cluster)
          ? []
          : [
              {
                path: pathOf(ROOT_PATH, "clusters", index),
                message: `${cluster} is not a known cluster`,
                fix: known.length === 0 ? "register a cluster" : `use one of ${known.toSorted().join(", ")}`,
              },
            ],
      ),
    ];
    if (occurrenceAt(spec, nowMs) === undefined && nextStart(spec, nowMs) === undefined) {
      violations.push(
        spec.schedule === undefined
          ? { path: pathOf(ROOT_PATH, "end"), message: "is in the past", fix: "state a later time" }
          : { path: pathOf(ROOT_PATH, "schedule"), message: "never occurs", fix: "state a day that exists" },
      );
    }
    if (violations.length > 0) throw invalidArgument(`freeze window "${name}"`, violations);
  }

  #now(): number {
    return this.#options.ambient.clock.now();
  }
}

const NONE: FreezeWindows = { windows: [] };
