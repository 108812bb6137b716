import { failedPrecondition, invalidArgument, notFound } from "@oaas/foundation";
import { isValidName } from "@oaas/kube-core";
import { deploymentIdOf, isObjectOf, objectName, upstreamObjectName } from "../../mapping/object-identity.ts";
import { defaultNamespace, requestedNamespace, type NamespaceRules } from "../access/namespaces.ts";
import type { ClassDirectory, ClassStore, StoredClass } from "../../classes/ports.ts";

/** Dependencies of the lookup by deployment id. */
export interface FindClassDeps {
  readonly namespaces: NamespaceRules;
  readonly directory: ClassDirectory;
  readonly store: Pick<ClassStore, "read">;
}

/** The class runtime that a request names. */
export interface ClassAddress {
  readonly deploymentId: string;
  readonly namespace?: string | undefined;
}

/**
 * Finds the class runtime of a request: in the named namespace, else in the default namespace, else in any namespace if
 * it is the only one. Reads the server when the cache has none: the object may have just been created.
 */
export async function findClass(
  { deploymentId, namespace }: ClassAddress,
  deps: FindClassDeps,
  signal: AbortSignal,
): Promise<StoredClass> {
  if (deploymentId === "") {
    throw invalidArgument("the request", [
      { path: "$.deployment_id", message: "is empty", fix: "send the id of the deployment" },
    ]);
  }
  const named = requestedNamespace(deps.namespaces, namespace);
  const { fallback } = deps.namespaces;
  const known = findCached(deploymentId, deps.directory).filter(
    (one) => named === undefined || one.metadata.namespace === named,
  );
  const [only] = known.length === 1 ? known : known.filter((one) => one.metadata.namespace === fallback);
  if (only !== undefined) return only;
  if (known.length > 1) throw ambiguousFault(deploymentId, known);
  const target = named ?? defaultNamespace(deps.namespaces);
  const found = target === undefined ? undefined : await readByName(deploymentId, target, deps.store, signal);
  if (found === undefined) throw notFound("deployment", deploymentId);
  return found;
}

/** Reads the object of a unit from the server. */
export async function readByName(
  deploymentId: string,
  namespace: string,
  store: Pick<ClassStore, "read">,
  signal: AbortSignal,
): Promise<StoredClass | undefined> {
  for (const name of candidateNames(deploymentId)) {
    const found = await store.read({ namespace, name }, signal);
    if (found !== undefined && hasDeploymentId(found, deploymentId)) return found;
  }
  return undefined;
}

/** Possible object names of a unit: the current scheme, and the scheme of earlier releases. */
export function candidateNames(deploymentId: string): readonly string[] {
  const names = new Set([objectName(deploymentId), upstreamObjectName(deploymentId)]);
  return [...names].filter((name) => isValidName("dns-1123-subdomain", name));
}

function hasDeploymentId(object: StoredClass, deploymentId: string): boolean {
  return deploymentIdOf(object) === deploymentId || isObjectOf(object, deploymentId);
}

function findCached(deploymentId: string, directory: ClassDirectory): readonly StoredClass[] {
  const found = [...directory.find(deploymentId), ...directory.find(upstreamObjectName(deploymentId))];
  return [...new Set(found)].filter((one) => hasDeploymentId(one, deploymentId));
}

function ambiguousFault(deploymentId: string, found: readonly StoredClass[]): Error {
  const namespaces = found.map(({ metadata }) => metadata.namespace).toSorted();
  return failedPrecondition(
    `deployment "${deploymentId}"`,
    `deployment "${deploymentId}" exists in several namespaces (${namespaces.join(", ")}); set namespace in the request`,
  );
}
