import { failedPrecondition, Fault, notFound, type Ambient } from "@oaas/foundation";
import type { ClassDefinition, ClassDeployment, Package, PackageName, Revision } from "@oaas/models";
import {
  Collection,
  CollectionView,
  conflictOf,
  combineTransactions,
  type KeyValueStore,
  type Stored,
  type Transaction,
} from "@oaas/storage";
import { assertVersionOf, retryOnConflict } from "../concurrency.ts";
import type {
  Acknowledgement,
  Call,
  DependencyGraph,
  Diff,
  ListPage,
  PackagePreview,
  PageRequest,
  IdempotencyRecord,
  RegisteredPackage,
  Registry,
  Idempotent,
  VersionCondition,
  Versioned,
  WithVersion,
} from "../use-cases.ts";
import { maskedInPackage } from "../masking/mask-settings.ts";
import { alreadyRegistered, assertSameName, assertValid, shortList } from "./package-checks.ts";
import { buildDependencyGraph } from "./dependency-graph.ts";
import { PackageHistory, previewOf } from "./package-history.ts";
import { PackageReferences } from "./package-references.ts";
import { PackageWrites, type StagedPackage } from "./package-writes.ts";
import { Catalogue, listPackages, PACKAGE_ORDERS } from "./package-queries.ts";
import { isSameContent, PACKAGES, registeredPackage, revisionOf, type PackageRecord } from "./package-records.ts";

/** The part of the deployments that the registry uses. */
export interface PackageDeployments {
  /** Keys of the deployments of a package. */
  keysOf(name: PackageName): Promise<readonly string[]>;
  /** Deletes all deployments of a package, then removes the package; resumed after a crash. */
  removeAll(name: PackageName, call: Call): Promise<"deleted" | "accepted">;
  schedule(deployment: ClassDeployment, call: Call): Promise<unknown>;
  /** The revisions of a package that its deployments run. They are kept in the history. */
  revisionsInUse(name: PackageName): ReadonlySet<number>;
}

export interface PackageRegistryOptions {
  readonly store: KeyValueStore;
  readonly ambient: Ambient;
  readonly deployments: PackageDeployments;
  /** Schedule embedded deployments by default. */
  readonly autoDeploy?: boolean;
  /** Delete the deployments of a deleted package by default. */
  readonly cascade?: boolean;
  /** The number of newest revisions to keep of each package. */
  readonly revisionsKept?: number;
  readonly onChange?: (names: readonly string[]) => void;
}

/** The part of the idempotency record that the response needs. */
interface WriteNote {
  readonly status: Acknowledgement["status"];
}

/** How long a removal waits for the lists of its process to show it. The removal is durable either way. */
const LISTED_WITHIN_MS = 2_000;
/** The caller of a preview. */
const PREVIEW_CALL: Call = { caller: "", correlationId: "" };

/**
 * The packages, their revisions and their dependencies.
 *
 * *Guarantees*: every write is one transaction of the package and its new immutable revision, on the condition that its
 * inputs have not changed. Concurrent writers can neither create a dependency cycle nor remove a package that was just
 * referenced.
 */
export class PackageRegistry implements Registry {
  readonly #options: PackageRegistryOptions;
  readonly #packages: Collection<PackageRecord, (typeof PACKAGES)["indexes"]>;
  readonly #history: PackageHistory;
  readonly #references: PackageReferences;
  readonly #writes: PackageWrites;
  readonly #view: CollectionView<PackageRecord>;
  readonly #catalogue: Catalogue;

  constructor(options: PackageRegistryOptions) {
    const { store, ambient } = options;
    this.#options = options;
    this.#packages = new Collection(store, PACKAGES);
    this.#history = new PackageHistory(store);
    this.#references = new PackageReferences(store, this.#packages);
    this.#writes = new PackageWrites({
      ambient,
      packages: this.#packages,
      history: this.#history,
      references: this.#references,
      revisionsInUse: (name) => options.deployments.revisionsInUse(name),
      revisionsKept: () => options.revisionsKept,
    });
    this.#view = new CollectionView(this.#packages, {
      ambient,
      orders: PACKAGE_ORDERS,
      onChange: (names) => {
        this.#catalogue.invalidate();
        options.onChange?.(names);
      },
    });
    this.#catalogue = new Catalogue(this.#view);
  }

  /** Loads the lists. */
  start(): Promise<void> {
    return this.#view.start();
  }

  close(): Promise<void> {
    return this.#view.close();
  }

  /** The stored packages, for watchers. */
  get collection(): Pick<Collection<PackageRecord>, "watch" | "decodeEntry"> {
    return this.#packages;
  }

  /** Why the lists may be outdated; undefined when they are current. */
  get viewFault(): Fault | undefined {
    return this.#view.fault;
  }

  async register(
    input: Package,
    call: Call,
    { applyDeployments, idempotency }: Idempotent & { readonly applyDeployments?: boolean } = {},
  ): Promise<Acknowledgement> {
    assertValid(input, maskedInPackage(input));
    const ack =
      earlierResponse(input.name, idempotency) ?? (await this.#write(input, call, async () => undefined, idempotency));
    return this.isScheduling(input, applyDeployments) ? this.#schedule(ack, input, call) : ack;
  }

  async update(
    name: PackageName,
    input: Package,
    call: Call,
    { ifVersion, applyDeployments, idempotency }: Versioned & Idempotent & { readonly applyDeployments?: boolean } = {},
  ): Promise<Acknowledgement> {
    assertSameName(input, name);
    assertValid(input, maskedInPackage(input));
    const ack =
      earlierResponse(name, idempotency) ??
      (await this.#write(input, call, () => this.#current(name, ifVersion), idempotency));
    return this.isScheduling(input, applyDeployments) ? this.#schedule(ack, input, call) : ack;
  }

  async preview(
    input: Package,
    { name, ifVersion, applyDeployments }: Parameters<Registry["preview"]>[1] = {},
  ): Promise<PackagePreview> {
    if (name !== undefined) assertSameName(input, name);
    assertValid(input, maskedInPackage(input));
    const previous = name === undefined ? undefined : await this.#current(name, ifVersion);
    await this.#writes.stage(input, previous, PREVIEW_CALL);
    if (name === undefined && (await this.#packages.get(input.name))) throw alreadyRegistered(input.name);
    const count = this.isScheduling(input, applyDeployments) ? input.deployments.length : 0;
    return {
      ...previewOf(previous?.record, input),
      ...(previous ? { version: previous.revision } : {}),
      ...(count === 0 ? {} : { message: `deployments that would be scheduled: ${count}` }),
    };
  }

  /** Stages packages for one transaction, each of which may depend on the others. Rejections are in the order of the requests. */
  stageAll(
    requests: readonly (Versioned & { readonly input: Package })[],
    call: Call,
  ): Promise<readonly PromiseSettledResult<StagedPackage>[]> {
    const beside = new Map(requests.map(({ input }) => [input.name, input]));
    const stage = async ({ input, ifVersion }: (typeof requests)[number]): Promise<StagedPackage> => {
      assertValid(input, maskedInPackage(input));
      const previous = await this.#packages.get(input.name);
      if (ifVersion !== undefined) assertVersionOf("package", input.name, previous?.revision, ifVersion);
      return this.#writes.stage(input, previous, call, beside);
    };
    return Promise.allSettled(requests.map(stage));
  }

  /** The packages as they will be after the commit of the staged ones. */
  after(staged: readonly StagedPackage[]): Pick<PackageRegistry, "nextRevision" | "revision" | "use"> {
    const byName = new Map(staged.map((each) => [each.name, each]));
    return {
      nextRevision: (definition) => this.nextRevision(definition),
      revision: (name, revision) => this.revision(name, revision),
      use: async (name, user) => {
        const record = byName.get(name)?.record;
        if (record === undefined) return this.use(name, user);
        return { record, stage: this.#references.stagePendingReference(name, user) };
      },
    };
  }

  /** Shows a committed package in the lists. */
  committed(staged: StagedPackage, revision: number): Acknowledgement {
    const { name: id, status } = staged;
    const stored = staged.stored(revision);
    if (status !== "unchanged") this.#view.applyWrite(stored);
    return { id, status, version: stored.revision };
  }

  /** Whether a write of the package also applies its deployments. */
  isScheduling({ deployments }: Package, requested: boolean | undefined): boolean {
    return (requested ?? this.#options.autoDeploy ?? false) && deployments.length > 0;
  }

  async rollBack(
    name: PackageName,
    revision: number,
    call: Call,
    { ifVersion, idempotency }: Versioned & Idempotent = {},
  ): Promise<Acknowledgement> {
    const response = earlierResponse(name, idempotency);
    if (response !== undefined) return response;
    const earlier = await this.revision(name, revision);
    const reason = call.reason ?? `rolled back to revision ${revision}`;
    return this.#write(earlier.package, { ...call, reason }, () => this.#current(name, ifVersion), idempotency);
  }

  async remove(
    name: PackageName,
    call: Call,
    { ifVersion, cascade = this.#options.cascade ?? false }: Versioned & { readonly cascade?: boolean } = {},
  ): Promise<"deleted" | "accepted"> {
    await this.#current(name, ifVersion);
    await this.#references.assertUnreferenced(name);
    const keys = await this.#options.deployments.keysOf(name);
    if (keys.length > 0 && !cascade)
      throw failedPrecondition(
        `package "${name}"`,
        `package "${name}" has ${keys.length === 1 ? "a deployment" : `${keys.length} deployments`}: ${shortList(keys)}. Delete ${keys.length === 1 ? "it" : "them"} first, or delete with cascade=true`,
      );
    if (keys.length > 0) return this.#options.deployments.removeAll(name, call);
    await this.forget(name, ifVersion);
    return "deleted";
  }

  /** Removes a package without deployments and dependents, with all its revisions. A no-op when it does not exist. */
  async forget(name: PackageName, ifVersion?: VersionCondition): Promise<void> {
    await retryOnConflict(async () => {
      const end = await this.#references.stageRelease(name);
      const stored = await this.#packages.get(name);
      if (!stored) return;
      if (ifVersion !== undefined) assertVersionOf("package", name, stored.revision, ifVersion);
      await this.#references.assertUnreferenced(name);
      if ((await this.#options.deployments.keysOf(name)).length > 0)
        throw failedPrecondition(
          `package "${name}"`,
          `package "${name}" was deployed in the meantime; delete it again`,
        );
      const { revision } = await this.#options.store.commit(
        combineTransactions(this.#packages.stageDelete(stored), this.#history.stageRemoval(name), end),
      );
      await this.#view.waitForRevisionWithin(revision, LISTED_WITHIN_MS);
    });
  }

  async get(name: PackageName): Promise<WithVersion<RegisteredPackage>> {
    const { record, revision } = await this.#stored(name);
    return { value: registeredPackage(record), version: revision };
  }

  /** A package, and the staged reference to it by `user`; the transaction fails when the package changes. */
  async use(name: PackageName, user: string): Promise<{ readonly record: PackageRecord; readonly stage: Transaction }> {
    const stored = await this.#stored(name);
    return { record: stored.record, stage: this.#references.stageReference(stored, user) };
  }

  /** The revision that a package would get: the current one when its content is unchanged. */
  async nextRevision(definition: Package): Promise<number> {
    const stored = await this.#packages.get(definition.name);
    if (stored === undefined) return 1;
    const { package: current, revision } = stored.record;
    return isSameContent(current, definition) ? revision : revision + 1;
  }

  /** The newest packages, from the view in memory, and how many there are. */
  summary(newest: number): {
    readonly total: number;
    readonly disabled: number;
    readonly newest: readonly PackageRecord[];
  } {
    const all = this.#view.page({ order: "updated_at", descending: true, limit: newest });
    const disabled = this.#view.page({
      filterKey: "disabled",
      filter: ({ record }) => record.package.disabled,
      limit: 1,
    });
    return { total: all.total, disabled: disabled.total, newest: all.records.map(({ record }) => record) };
  }

  async list(query: Parameters<Registry["list"]>[0]): Promise<ListPage<RegisteredPackage>> {
    return listPackages(this.#view, query);
  }

  async dependencies(name: PackageName): Promise<DependencyGraph> {
    const { record } = await this.#stored(name);
    return buildDependencyGraph(name, {
      // The lists may not show the newest write yet.
      find: (each) => (each === name ? record : this.#view.get(each)?.record)?.package,
      dependentsOf: (each) => this.#catalogue.dependentsOf(each),
    });
  }

  async revisions(name: PackageName, page: PageRequest): Promise<ListPage<Revision>> {
    return this.#history.page((await this.#stored(name)).record, page);
  }

  async revision(name: PackageName, revision: number): Promise<Revision & { readonly package: Package }> {
    const found = await this.#history.get((await this.#stored(name)).record, revision);
    return { ...revisionOf(found), package: found.package };
  }

  async diff(name: PackageName, from?: number, to?: number): Promise<Diff> {
    return this.#history.diff((await this.#stored(name)).record, from, to);
  }

  async classes(query: Parameters<Registry["classes"]>[0]): ReturnType<Registry["classes"]> {
    return this.#catalogue.classes(query);
  }

  /** The classes of all packages. */
  allClasses(): readonly ClassDefinition[] {
    return this.#catalogue.allClasses();
  }

  async functions(query: Parameters<Registry["functions"]>[0]): ReturnType<Registry["functions"]> {
    return this.#catalogue.functions(query);
  }

  /** Validates the package and writes it as the next revision; the same content changes nothing. */
  #write(
    input: Package,
    call: Call,
    loadPrevious: () => Promise<Stored<PackageRecord> | undefined>,
    idempotency: IdempotencyRecord | undefined,
  ): Promise<Acknowledgement> {
    return retryOnConflict(async () => {
      const previous = await loadPrevious();
      const staged = await this.#writes.stage(input, previous, call);
      const { status } = staged;
      if (status === "unchanged") return { id: input.name, status, version: staged.stored(0).revision };
      const note = idempotency?.stage({ status } satisfies WriteNote);
      const whole = combineTransactions(staged.transaction, staged.references, ...(note ? [note] : []));
      const { revision } = await (previous ? this.#options.store.commit(whole) : this.#commitNew(input.name, whole));
      return this.committed(staged, revision);
    }, idempotency);
  }

  /** Reports a concurrent registration of the same name as already-exists; other conflicts are retried. */
  async #commitNew(name: PackageName, transaction: Transaction): Promise<{ readonly revision: number }> {
    try {
      return await this.#options.store.commit(transaction);
    } catch (thrown) {
      if (conflictOf(thrown) && (await this.#packages.get(name))) throw alreadyRegistered(name, thrown);
      throw thrown;
    }
  }

  async #schedule(ack: Acknowledgement, { name, deployments }: Package, call: Call): Promise<Acknowledgement> {
    const outcomes = await Promise.allSettled(
      deployments.map((each) => this.#options.deployments.schedule({ ...each, packageName: name }, call)),
    );
    const rejected = outcomes.flatMap((outcome, index) =>
      outcome.status === "rejected" ? [`"${deployments[index]?.key}": ${Fault.from(outcome.reason).message}`] : [],
    );
    const scheduled = `${deployments.length - rejected.length} of ${deployments.length} deployments scheduled`;
    return {
      ...ack,
      message: rejected.length === 0 ? scheduled : `${scheduled}; not scheduled: ${rejected.join("; ")}`,
    };
  }

  async #stored(name: PackageName): Promise<Stored<PackageRecord>> {
    const stored = await this.#packages.get(name);
    if (!stored) throw notFound("package", name);
    return stored;
  }

  async #current(name: PackageName, ifVersion: VersionCondition | undefined): Promise<Stored<PackageRecord>> {
    const stored = await this.#stored(name);
    if (ifVersion !== undefined) assertVersionOf("package", name, stored.revision, ifVersion);
    return stored;
  }
}

/** The response of an earlier attempt of the same request; undefined for the first attempt. */
function earlierResponse(id: PackageName, idempotency: IdempotencyRecord | undefined): Acknowledgement | undefined {
  if (idempotency?.committed === undefined) return undefined;
  const { note, revision } = idempotency.committed;
  return { id, status: (note as WriteNote).status, version: revision };
}
