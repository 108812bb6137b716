import { failedPrecondition, Fault, notFound, timestamp, type Ambient } from "@oaas/foundation";
import { checkPackage, type ClassDefinition, type ClassDeployment, type Package, type PackageName } from "@oaas/models";
import {
  Collection,
  CollectionView,
  conflictOf,
  together,
  type KeyValueStore,
  type Stored,
  type Transaction,
} from "@oaas/storage";
import { retryOnConflict } from "../concurrency.ts";
import type {
  Acknowledgement,
  Call,
  Diff,
  ListPage,
  PackagePreview,
  PageRequest,
  Once,
  RegisteredPackage,
  Registry,
  Repeatable,
  Revision,
  Versioned,
  WithVersion,
} from "../use-cases.ts";
import { assertVersionOf } from "../concurrency.ts";
import type { VersionCondition } from "../use-cases.ts";
import { alreadyRegistered, assertFits, assertNamed, assertValid, shortList } from "./package-checks.ts";
import { PackageHistory, rehearsed } from "./package-history.ts";
import { PackageNeeds } from "./package-needs.ts";
import { Catalogue, listPackages, PACKAGE_ORDERS } from "./package-queries.ts";
import { isSameContent, PACKAGES, registered, revisionOf, type PackageRecord } from "./package-records.ts";

/** What the registry asks of the deployments. */
export interface PackageDeployments {
  /** Keys of the deployments of a package. */
  keysOf(name: PackageName): Promise<readonly string[]>;
  /** Deletes all deployments of a package, then calls back to forget it; carried on after a crash. */
  removeAll(name: PackageName, call: Call): Promise<"deleted" | "accepted">;
  schedule(deployment: ClassDeployment, call: Call): Promise<unknown>;
}

export interface PackageRegistryOptions {
  readonly store: KeyValueStore;
  readonly ambient: Ambient;
  readonly deployments: PackageDeployments;
  /** Schedule embedded deployments without being asked. */
  readonly autoDeploy?: boolean;
  /** Delete deployments with their package without being asked. */
  readonly cascade?: boolean;
  readonly onChange?: (names: readonly string[]) => void;
}

/** How a write is told in the mark of its request. */
interface WriteNote {
  readonly status: Acknowledgement["status"];
}

/** How long whoever removes something waits for its own lists to show it no more; it is gone either way. */
const SHOWN_WITHIN_MS = 2_000;
/** Who asks what would be written. */
const NOBODY: Call = { caller: "", correlationId: "" };

/**
 * The packages, their revisions and what depends on what.
 *
 * *Guarantees*: every write is one transaction of the package and its new immutable revision, on condition that everything it
 * was decided by is still so: no two writers can make a circle, or remove what another just came to need.
 */
export class PackageRegistry implements Registry {
  readonly #options: PackageRegistryOptions;
  readonly #packages: Collection<PackageRecord, (typeof PACKAGES)["indexes"]>;
  readonly #history: PackageHistory;
  readonly #needs: PackageNeeds;
  readonly #view: CollectionView<PackageRecord>;
  readonly #catalogue: Catalogue;

  constructor(options: PackageRegistryOptions) {
    const { store, ambient } = options;
    this.#options = options;
    this.#packages = new Collection(store, PACKAGES);
    this.#history = new PackageHistory(store);
    this.#needs = new PackageNeeds(store, this.#packages);
    this.#view = new CollectionView(this.#packages, {
      ambient,
      orders: PACKAGE_ORDERS,
      onChange: (names) => {
        this.#catalogue.forget();
        options.onChange?.(names);
      },
    });
    this.#catalogue = new Catalogue(this.#view);
  }

  /** Loads what lists are served from. */
  start(): Promise<void> {
    return this.#view.start();
  }

  close(): Promise<void> {
    return this.#view.close();
  }

  /** What it keeps, for those who follow it. */
  get collection(): Pick<Collection<PackageRecord>, "watch" | "recordIn"> {
    return this.#packages;
  }

  /** Why lists may be behind; undefined when they are not. */
  get viewFault(): Fault | undefined {
    return this.#view.trouble;
  }

  async register(
    input: Package,
    call: Call,
    { applyDeployments, once }: Repeatable & { readonly applyDeployments?: boolean } = {},
  ): Promise<Acknowledgement> {
    const ack = writtenBefore(input.name, once) ?? (await this.#write(input, call, async () => undefined, once));
    return this.#schedules(input, applyDeployments) ? this.#scheduled(ack, input, call) : ack;
  }

  async update(
    name: PackageName,
    input: Package,
    call: Call,
    { ifVersion, applyDeployments, once }: Versioned & Repeatable & { readonly applyDeployments?: boolean } = {},
  ): Promise<Acknowledgement> {
    assertNamed(input, name);
    const ack =
      writtenBefore(name, once) ?? (await this.#write(input, call, () => this.#current(name, ifVersion), once));
    return this.#schedules(input, applyDeployments) ? this.#scheduled(ack, input, call) : ack;
  }

  async preview(
    input: Package,
    { name, ifVersion, applyDeployments }: Parameters<Registry["preview"]>[1] = {},
  ): Promise<PackagePreview> {
    if (name !== undefined) assertNamed(input, name);
    const previous = name === undefined ? undefined : await this.#current(name, ifVersion);
    assertValid(input, [...checkPackage(input), ...(await this.#needs.of(input)).violations]);
    if (name === undefined && (await this.#packages.get(input.name))) throw alreadyRegistered(input.name);
    assertFits(input, this.#packages.textOf(this.#recordOf(input, previous?.record, NOBODY)));
    const wishes = (applyDeployments ?? this.#options.autoDeploy ?? false) ? input.deployments.length : 0;
    return {
      ...rehearsed(previous?.record, input),
      ...(previous ? { version: previous.revision } : {}),
      ...(wishes === 0 ? {} : { message: `deployments that would be scheduled: ${wishes}` }),
    };
  }

  async rollBack(
    name: PackageName,
    revision: number,
    call: Call,
    { ifVersion, once }: Versioned & Repeatable = {},
  ): Promise<Acknowledgement> {
    const before = writtenBefore(name, once);
    if (before !== undefined) return before;
    const earlier = await this.revision(name, revision);
    const reason = call.reason ?? `rolled back to revision ${revision}`;
    return this.#write(earlier.package, { ...call, reason }, () => this.#current(name, ifVersion), once);
  }

  async remove(
    name: PackageName,
    call: Call,
    { ifVersion, cascade = this.#options.cascade ?? false }: Versioned & { readonly cascade?: boolean } = {},
  ): Promise<"deleted" | "accepted"> {
    await this.#current(name, ifVersion);
    await this.#needs.refuseWhileNeeded(name);
    const keys = await this.#options.deployments.keysOf(name);
    if (keys.length > 0 && !cascade)
      throw failedPrecondition(
        `package "${name}"`,
        `package "${name}" has ${keys.length === 1 ? "a deployment" : `${keys.length} deployments`}: ${shortList(keys)}. Delete ${keys.length === 1 ? "it" : "them"} first, or ask to cascade`,
      );
    if (keys.length > 0) return this.#options.deployments.removeAll(name, call);
    await this.forget(name, ifVersion);
    return "deleted";
  }

  /** Removes a package without deployments and dependents, with all its revisions. One that is not there is removed. */
  async forget(name: PackageName, ifVersion?: VersionCondition): Promise<void> {
    await retryOnConflict(async () => {
      const end = await this.#needs.stageEnd(name);
      const stored = await this.#packages.get(name);
      if (!stored) return;
      if (ifVersion !== undefined) assertVersionOf("package", name, stored.revision, ifVersion);
      await this.#needs.refuseWhileNeeded(name);
      if ((await this.#options.deployments.keysOf(name)).length > 0)
        throw failedPrecondition(`package "${name}"`, `package "${name}" was deployed meanwhile; delete it again`);
      const { revision } = await this.#options.store.commit(
        together(this.#packages.stageDelete(stored), this.#history.stageRemoval(name), end),
      );
      await this.#view.reachedWithin(revision, SHOWN_WITHIN_MS);
    });
  }

  async get(name: PackageName): Promise<WithVersion<RegisteredPackage>> {
    const { record, revision } = await this.#stored(name);
    return { value: registered(record), version: revision };
  }

  /** A package, and the part of a transaction by which something comes to need it: it fails when the package changed. */
  async use(name: PackageName, by: string): Promise<{ readonly record: PackageRecord; readonly stage: Transaction }> {
    const stored = await this.#stored(name);
    return { record: stored.record, stage: this.#needs.stage(stored, by) };
  }

  async list(query: Parameters<Registry["list"]>[0]): Promise<ListPage<RegisteredPackage>> {
    return listPackages(this.#view, query);
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

  /** Those of all packages at once, for who draws them together. */
  allClasses(): readonly ClassDefinition[] {
    return this.#catalogue.allClasses();
  }

  async functions(query: Parameters<Registry["functions"]>[0]): ReturnType<Registry["functions"]> {
    return this.#catalogue.functions(query);
  }

  /** Checks, then writes the package as its next revision; the same content again changes nothing. */
  #write(
    input: Package,
    call: Call,
    before: () => Promise<Stored<PackageRecord> | undefined>,
    once: Once | undefined,
  ): Promise<Acknowledgement> {
    const violations = checkPackage(input);
    return retryOnConflict(async () => {
      const previous = await before();
      const needed = await this.#needs.of(input);
      assertValid(input, [...violations, ...needed.violations]);
      const also = needed.packages.map((each) => this.#needs.stage(each, input.name));
      const note: WriteNote = { status: previous ? "updated" : "created" };
      return this.#put(input, previous, call, once === undefined ? also : [...also, once.mark(note)]);
    }, once);
  }

  async #put(
    input: Package,
    previous: Stored<PackageRecord> | undefined,
    call: Call,
    also: readonly Transaction[],
  ): Promise<Acknowledgement> {
    if (previous && isSameContent(previous.record.package, input))
      return { id: input.name, status: "unchanged", version: previous.revision };
    const record = this.#recordOf(input, previous?.record, call);
    const text = this.#packages.textOf(record);
    assertFits(input, text);
    const put = previous
      ? this.#packages.stageUpdate(previous, record, text)
      : this.#packages.stageCreate(input.name, record, undefined, text);
    const whole = together(put, this.#history.stage(record, text), ...also);
    const { revision } = await (previous ? this.#options.store.commit(whole) : this.#commitNew(input.name, whole));
    this.#view.show(this.#packages.committed(put, revision, previous));
    return { id: input.name, status: previous ? "updated" : "created", version: revision };
  }

  #recordOf(input: Package, previous: PackageRecord | undefined, call: Call): PackageRecord {
    const now = timestamp(this.#options.ambient.clock.now());
    const createdAt = previous?.package.metadata.createdAt ?? now;
    const record = {
      package: { ...input, metadata: { ...input.metadata, createdAt, updatedAt: now } },
      revision: (previous?.revision ?? 0) + 1,
      author: call.caller,
      createdAt: now,
    };
    return call.reason === undefined ? record : { ...record, reason: call.reason };
  }

  /** A conflict with one who registered the name meanwhile is told as such; any other is decided again. */
  async #commitNew(name: PackageName, transaction: Transaction): Promise<{ readonly revision: number }> {
    try {
      return await this.#options.store.commit(transaction);
    } catch (thrown) {
      if (conflictOf(thrown) && (await this.#packages.get(name))) throw alreadyRegistered(name, thrown);
      throw thrown;
    }
  }

  #schedules({ deployments }: Package, asked: boolean | undefined): boolean {
    return (asked ?? this.#options.autoDeploy ?? false) && deployments.length > 0;
  }

  async #scheduled(ack: Acknowledgement, { name, deployments: wishes }: Package, call: Call): Promise<Acknowledgement> {
    const outcomes = await Promise.allSettled(
      wishes.map((wish) => this.#options.deployments.schedule({ ...wish, packageName: name }, call)),
    );
    const refused = outcomes.flatMap((outcome, index) =>
      outcome.status === "rejected" ? [`"${wishes[index]?.key}": ${Fault.from(outcome.reason).message}`] : [],
    );
    const scheduled = `${wishes.length - refused.length} of ${wishes.length} deployments scheduled`;
    return { ...ack, message: refused.length === 0 ? scheduled : `${scheduled}; not scheduled: ${refused.join("; ")}` };
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

/** What was answered, or would have been, when this very request wrote the package before. */
function writtenBefore(id: PackageName, once: Once | undefined): Acknowledgement | undefined {
  if (once?.done === undefined) return undefined;
  const { note, revision } = once.done;
  return { id, status: (note as WriteNote).status, version: revision };
}
