import { Fault, type FaultPart } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { conflictOf, type Transaction } from "@oaas/storage";
import { retryOnConflict } from "../concurrency.ts";
import { acknowledge, type StartedOperation } from "../deployments/acknowledge-deployment.ts";
import type { Launched } from "../deployments/saga-launcher.ts";
import { stageDeployment, type StageDeps, type StagedDeployment } from "../deployments/stage-deployment.ts";
import { jsonChanges } from "../history/json-changes.ts";
import { comparePlans } from "../planner/explanation/compare-plans.ts";
import type { UsedCollection } from "../planner/plan-types.ts";
import { subjectOf } from "../records/deployment-saga.ts";
import { packageContent } from "../registry/package-records.ts";
import type { PackageRegistry } from "../registry/package-registry.ts";
import type { StagedPackage } from "../registry/package-writes.ts";
import type { AppliedDocument, Call, DocumentRequest, Documents, IdempotencyRecord } from "../use-cases.ts";
import {
  assertDistinct,
  assertOneTransaction,
  isRejection,
  mergeReferences,
  nameOf,
  rejectedDocuments,
  withEmbedded,
} from "./document-set.ts";

export interface ApplyDocumentsDeps {
  readonly registry: PackageRegistry;
  readonly deployments: StageDeps;
}

/** Everything that one transaction writes. */
interface StagedSet {
  readonly packages: readonly StagedPackage[];
  readonly deployments: readonly StagedDeployment[];
  readonly references: Transaction;
}

/** The part of the idempotency record that the response needs. */
interface SetNote {
  readonly documents: readonly (Pick<AppliedDocument, "kind" | "name" | "status" | "revision"> & {
    readonly saga?: string;
  })[];
}

/** A committed document; a deployment also with its running operation. */
type Started = Pick<AppliedDocument, "kind" | "name" | "status" | "revision" | "version"> & {
  readonly operation?: Launched | undefined;
};

type PackageDocument = Extract<DocumentRequest, { kind: "package" }>;
type DeploymentDocument = Extract<DocumentRequest, { kind: "deployment" }>;

/**
 * Applies packages and deployments as one set.
 *
 * *Guarantees*: all documents are validated and planned against the state after the set; then one transaction writes all of
 * them with their plans, histories and sagas, on the condition that nothing that was read has changed. A rejected document
 * leaves the store unchanged. A dry run does the same up to the commit.
 */
export class DocumentSets implements Documents {
  readonly #deps: ApplyDocumentsDeps;

  constructor(deps: ApplyDocumentsDeps) {
    this.#deps = deps;
  }

  async preview(...[documents, call, options]: Parameters<Documents["preview"]>): ReturnType<Documents["preview"]> {
    const set = this.#expand(documents, options);
    const { packages, deployments } = await this.#stage(set, call);
    return inOrder(set, [...packages.map(packagePreview), ...deployments.map((each) => this.#deploymentPreview(each))]);
  }

  async apply(...[documents, call, options]: Parameters<Documents["apply"]>): ReturnType<Documents["apply"]> {
    const { idempotency } = options;
    const set = this.#expand(documents, options);
    const start = async (): Promise<readonly Started[]> => this.#commit(await this.#stage(set, call), idempotency);
    const started = this.#resumed(idempotency) ?? (await retryOnConflict(start, idempotency));
    return inOrder(set, await Promise.all(started.map((each) => this.#settled(each))));
  }

  #expand(documents: readonly DocumentRequest[], { applyDeployments }: { readonly applyDeployments?: boolean }) {
    const { registry } = this.#deps;
    const set = withEmbedded(documents, (definition) => registry.isScheduling(definition, applyDeployments));
    assertDistinct(set);
    return set;
  }

  /** Validates and plans every document. Throws the rejections of all documents at once. */
  async #stage(documents: readonly DocumentRequest[], call: Call): Promise<StagedSet> {
    const { registry } = this.#deps;
    const wanted = documents.filter((each): each is PackageDocument => each.kind === "package");
    const requests = wanted.map(({ package: input, ifVersion }) => ({ input, ifVersion }));
    const stagedPackages = settle(wanted, await registry.stageAll(requests, call));
    const packages = stagedPackages.staged;
    const rejected = new Set(stagedPackages.rejected.map(({ name }) => name));
    // A deployment of a rejected package cannot be planned; the package is reported.
    const planned = documents.filter(
      (each): each is DeploymentDocument =>
        each.kind === "deployment" && !rejected.has(`package/${each.deployment.packageName}`),
    );
    const source = registry.after(packages);
    const stage: StageDocument = (document, taken = []) =>
      stageDeployment(this.#deps.deployments, document, call, {
        ifVersion: document.ifVersion,
        packages: source,
        taken,
      });
    const stagedDeployments = settle(planned, await stageWithOwnCollections(planned, stage));
    const faults = [...stagedPackages.rejected, ...stagedDeployments.rejected];
    if (faults.length > 0) throw rejectedDocuments(faults);
    const deployments = stagedDeployments.staged;
    const references = mergeReferences([...packages, ...deployments].map((each) => each.references));
    assertOneTransaction([...writesOf({ packages, deployments, references }), ...sagasOf(deployments)]);
    return { packages, deployments, references };
  }

  async #commit(set: StagedSet, idempotency: IdempotencyRecord | undefined): Promise<readonly Started[]> {
    const { registry, deployments: deps } = this.#deps;
    const { packages, deployments } = set;
    const operations = deployments.flatMap(({ operation }) => (operation === undefined ? [] : [operation]));
    const isChange = operations.length > 0 || writesOf(set).some(({ writes }) => writes.length > 0);
    const also = idempotency === undefined ? [] : [idempotency.stage(noteOf(set))];
    const { revision, launched } = isChange
      ? await deps.launcher.commit(operations, [...writesOf(set), ...also])
      : { revision: 0, launched: new Map<DeploymentKey, Launched>() };
    return [
      ...packages.map((each): Started => {
        const { version } = registry.committed(each, revision);
        return { ...summaryOf("package", each.name, each.status, each.record.revision), ...(version && { version }) };
      }),
      ...deployments.map(({ key, status, revision: number, running }) => ({
        ...summaryOf("deployment", key, status, number),
        operation: launched.get(key) ?? running,
      })),
    ];
  }

  /** The documents that an earlier attempt of the same request committed; undefined for the first attempt. */
  #resumed(idempotency: IdempotencyRecord | undefined): readonly Started[] | undefined {
    if (idempotency?.committed === undefined) return undefined;
    const { note, revision } = idempotency.committed;
    return (note as SetNote).documents.map(({ saga: id, ...document }) => {
      if (document.kind === "package") return { ...document, version: revision };
      const key = document.name as DeploymentKey;
      if (id === undefined) return document;
      const outcome = this.#deps.deployments.launcher.wait(key, { subject: subjectOf(key), id, revision });
      return { ...document, operation: { id, outcome } };
    });
  }

  /** The document after waiting for its roll-out. A failed roll-out is part of the result: the set is committed. */
  async #settled({ operation, ...document }: Started): Promise<AppliedDocument> {
    if (document.kind === "package") return document;
    const started: StartedOperation = { status: document.status, ...(operation && { outcome: operation.outcome }) };
    const about = { ...document, ...(operation && { operation: operation.id }) };
    try {
      const ack = await acknowledge(this.#deps.deployments.deployments, document.name as DeploymentKey, started);
      const rollout = ack.status === "accepted" ? "in_progress" : "complete";
      return {
        ...about,
        rollout,
        ...(ack.version === undefined ? {} : { version: ack.version }),
        ...(ack.message === undefined ? {} : { message: ack.message }),
      };
    } catch (thrown) {
      const fault = Fault.from(thrown);
      return { ...about, rollout: "failed", message: fault.message, fault };
    }
  }

  #deploymentPreview({ key, status, revision, plan, previous }: StagedDeployment): AppliedDocument {
    const summary = summaryOf("deployment", key, status, revision);
    if (plan === undefined) return summary;
    this.#deps.deployments.planning.remember(plan);
    return { ...summary, preview: { plan, changes: previous && comparePlans(previous, plan), loss: undefined } };
  }
}

type StageDocument = (document: DeploymentDocument, taken?: readonly UsedCollection[]) => Promise<StagedDeployment>;

/** Stages deployments at once, and those again that would use a collection of an earlier document of the set. */
async function stageWithOwnCollections(
  documents: readonly DeploymentDocument[],
  stage: StageDocument,
): Promise<readonly PromiseSettledResult<StagedDeployment>[]> {
  const results = await Promise.allSettled(documents.map((document) => stage(document)));
  const claimed = new Set<string>();
  const used: UsedCollection[] = [];
  for (const [index, document] of documents.entries()) {
    const first = results[index];
    const isShared = first?.status === "fulfilled" && first.value.claimed.some((id) => claimed.has(id));
    const [result] = isShared ? await Promise.allSettled([stage(document, used)]) : [first];
    if (result === undefined) continue;
    results[index] = result;
    if (result.status !== "fulfilled") continue;
    for (const id of result.value.claimed) claimed.add(id);
    used.push(...usedBy(result.value));
  }
  return results;
}

function usedBy({ key, plan, claimed }: StagedDeployment): readonly UsedCollection[] {
  if (plan?.odgm === undefined || claimed.length === 0) return [];
  const clusters = Object.keys(plan.odgm.nodeIds) as ClusterName[];
  return plan.odgm.collections.map((collection) => ({ collection, deployment: key, clusters }));
}

/** The results in the order of their documents. */
function inOrder(set: readonly DocumentRequest[], results: readonly AppliedDocument[]): readonly AppliedDocument[] {
  const order = new Map(set.map((document, index) => [nameOf(document), index]));
  const placeOf = ({ kind, name }: AppliedDocument): number => order.get(`${kind}/${name}`) ?? 0;
  return results.toSorted((a, b) => placeOf(a) - placeOf(b));
}

function packagePreview({ name, status, record, previous }: StagedPackage): AppliedDocument {
  const before = previous && packageContent(previous.record.package);
  return {
    ...summaryOf("package", name, status, record.revision),
    changes: jsonChanges(before, packageContent(record.package)),
    ...(previous === undefined ? {} : { version: previous.revision }),
  };
}

function summaryOf(
  kind: AppliedDocument["kind"],
  name: string,
  status: AppliedDocument["status"],
  revision: number,
): Pick<AppliedDocument, "kind" | "name" | "status" | "revision"> {
  return { kind, name, status, revision };
}

/** Everything except the sagas. */
function writesOf({ packages, deployments, references }: StagedSet): readonly Transaction[] {
  return [...packages.map(({ transaction }) => transaction), ...deployments.flatMap(({ parts }) => parts), references];
}

function sagasOf(deployments: readonly StagedDeployment[]): readonly Transaction[] {
  return deployments.flatMap(({ operation }) =>
    operation === undefined ? [] : [...operation.parts, operation.saga.transaction],
  );
}

function noteOf({ packages, deployments }: StagedSet): SetNote {
  return {
    documents: [
      ...packages.map(({ name, status, record }) => summaryOf("package", name, status, record.revision)),
      ...deployments.map(({ key, status, revision, operation }) => ({
        ...summaryOf("deployment", key, status, revision),
        ...(operation === undefined ? {} : { saga: operation.saga.id }),
      })),
    ],
  };
}

/** Separates staged documents from rejected ones. Throws a fault of the whole request. */
function settle<T>(
  documents: readonly DocumentRequest[],
  results: readonly PromiseSettledResult<T>[],
): { readonly staged: readonly T[]; readonly rejected: readonly FaultPart[] } {
  const staged: T[] = [];
  const rejected: FaultPart[] = [];
  for (const [index, result] of results.entries()) {
    if (result.status === "fulfilled") staged.push(result.value);
    else {
      const fault = Fault.from(result.reason);
      if (!isRejection(fault) || conflictOf(fault) !== undefined) throw fault;
      rejected.push({ name: nameOf(documents[index] as DocumentRequest), fault });
    }
  }
  return { staged, rejected };
}
