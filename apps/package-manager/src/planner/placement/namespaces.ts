import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { CandidateCluster, PlanInput, PlannedNamespace, Reason } from "../plan-types.ts";

/** The namespace of a unit in one cluster, and why the cluster cannot have the unit there. */
export interface ResolvedNamespace {
  readonly namespace: PlannedNamespace;
  readonly against: readonly Reason[];
  /** The unit exists in another namespace than the deployment states. */
  readonly move?: string;
}

const PATH = pathOf(ROOT_PATH, "namespace");

/**
 * The namespace of the deployment, else of its package, else the default of the cluster, else of its manager. A unit that
 * exists stays where it is: defaults apply to new units, and a stated namespace that differs is a move.
 */
export function resolveNamespace(input: PlanInput, cluster: CandidateCluster): ResolvedNamespace {
  if (cluster.existing !== undefined) return existingNamespace(input, cluster, cluster.existing);
  const namespace = newNamespace(input, cluster);
  return { namespace, against: objections(namespace, cluster) };
}

function newNamespace({ deployment, package: from }: PlanInput, cluster: CandidateCluster): PlannedNamespace {
  if (deployment.namespace !== undefined) return { name: deployment.namespace, origin: "deployment" };
  if (from.namespace !== undefined) return { name: from.namespace, origin: "package" };
  if (cluster.defaultNamespace !== undefined) return { name: cluster.defaultNamespace, origin: "cluster" };
  const name = cluster.reading?.defaultNamespace;
  return name === undefined ? { origin: "manager" } : { name, origin: "manager" };
}

function existingNamespace(
  input: PlanInput,
  cluster: CandidateCluster,
  { namespace: sent, reported }: NonNullable<CandidateCluster["existing"]>,
): ResolvedNamespace {
  const stated = input.deployment.namespace;
  if (stated === undefined) {
    const fresh = newNamespace(input, cluster);
    const origin = sent === undefined ? "manager" : fresh.name === sent ? fresh.origin : "running";
    return { namespace: sent === undefined ? { origin } : { name: sent, origin }, against: [] };
  }
  const present = sent ?? reported;
  const namespace = { name: stated, origin: "deployment" } as const;
  if (present === stated) return { namespace, against: [] };
  const where = present === undefined ? "a namespace that its manager has not reported" : `namespace "${present}"`;
  return { namespace, against: [], move: `${cluster.name}: its unit is in ${where}` };
}

/** Why a new unit cannot be created in the namespace. */
function objections({ name, origin }: PlannedNamespace, cluster: CandidateCluster): Reason[] {
  const { allowedNamespaces: allowed, reading } = cluster;
  const against = (code: string, text: string): Reason[] => [{ code, text }];
  if (name === undefined) {
    if (allowed === undefined || reading === undefined) return [];
    const text = "its manager decides the namespace, but allowed_namespaces is set; set its default_namespace";
    return against("namespace-unknown", text);
  }
  if (allowed !== undefined && !allowed.includes(name)) {
    return against(
      "namespace-not-allowed",
      `namespace "${name}" is not in its allowed_namespaces (${allowed.join(", ")})`,
    );
  }
  if (reading === undefined) return [];
  if (origin !== "manager" && reading.acceptsNamespace !== true) {
    return against(
      "namespace-unsupported",
      `its manager cannot be given a namespace ("${name}"); upgrade it, or state no namespace`,
    );
  }
  const { namespaces: served = [], rejectedNamespaces: rejected = [] } = reading;
  if (served.length > 0 && !served.includes(name)) {
    return against("namespace-not-served", `its manager does not serve namespace "${name}" (${served.join(", ")})`);
  }
  const isListed = served.includes(name) || allowed?.includes(name) === true;
  if (rejected.includes(name) || (name.startsWith("kube-") && !isListed)) {
    return against("namespace-rejected", `namespace "${name}" is a system namespace`);
  }
  return [];
}

/** The violation of a deployment that states another namespace than that of its units. */
export function moveViolation({ deployment }: PlanInput, moves: readonly string[]): Violation | undefined {
  if (moves.length === 0) return undefined;
  return {
    path: PATH,
    message: `a deployed class cannot move to namespace "${deployment.namespace}", because its state and its address stay behind (${moves.join("; ")})`,
    fix: "keep its namespace, or deploy it under a new key",
  };
}

/** The violation of a deployment whose namespace the clusters do not accept. */
export function namespaceViolation(
  { deployment, package: from }: PlanInput,
  refusing: readonly { readonly cluster: CandidateCluster; readonly text: string }[],
): Violation {
  const known = new Set(
    refusing.flatMap(({ cluster: { allowedNamespaces, reading } }) => allowedNamespaces ?? reading?.namespaces ?? []),
  );
  const stated = deployment.namespace === undefined && from.namespace !== undefined ? ` (of package ${from.name})` : "";
  const use = known.size === 0 ? "use another namespace" : `use one of ${[...known].sort().join(", ")}`;
  return {
    path: PATH,
    message: `cannot be used${stated}: ${refusing.map(({ cluster, text }) => `${cluster.name}: ${text}`).join("; ")}`,
    fix: `${use}, choose other clusters, or change the clusters' allowed_namespaces`,
  };
}
