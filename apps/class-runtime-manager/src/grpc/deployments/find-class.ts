import { failedPrecondition, invalidArgument, notFound } from "@oaas/foundation";
import { isValidName } from "@oaas/kube-core";
import { deploymentIdOf, isObjectOf, objectName, upstreamObjectName } from "../../mapping/object-identity.ts";
import { requestedNamespace, type NamespaceRules } from "../access/namespaces.ts";
import type { ClassDirectory, ClassStore, StoredClass } from "../../classes/ports.ts";

/** What finding a class runtime by its id needs. */
export interface LocateDeps {
  readonly namespaces: NamespaceRules;
  readonly directory: ClassDirectory;
  readonly store: Pick<ClassStore, "read">;
}

/** Whom a request means. */
export interface Address {
  readonly deploymentId: string;
  readonly namespace?: string | undefined;
}

/**
 * The class runtime a request means: in the namespace it names, else in the default one, else wherever there is exactly one. What the
 * cache does not have is looked for on the server, so that nothing is denied that was just made.
 */
export async function locate(
  { deploymentId, namespace }: Address,
  deps: LocateDeps,
  signal: AbortSignal,
): Promise<StoredClass> {
  if (deploymentId === "") {
    throw invalidArgument("the request", [
      { path: "$.deployment_id", message: "is empty", fix: "name the deployment by the id it was deployed with" },
    ]);
  }
  const named = requestedNamespace(deps.namespaces, namespace);
  const { fallback } = deps.namespaces;
  const known = cached(deploymentId, deps.directory).filter(
    (one) => named === undefined || one.metadata.namespace === named,
  );
  const [only] = known.length === 1 ? known : known.filter((one) => one.metadata.namespace === fallback);
  if (only !== undefined) return only;
  if (known.length > 1) throw ambiguous(deploymentId, known);
  const found = await readByName(deploymentId, named ?? fallback, deps.store, signal);
  if (found === undefined) throw notFound("deployment", deploymentId);
  return found;
}

/** The object that stands for a unit in a namespace, as the server has it; undefined when there is none. */
export async function readByName(
  deploymentId: string,
  namespace: string,
  store: Pick<ClassStore, "read">,
  signal: AbortSignal,
): Promise<StoredClass | undefined> {
  for (const name of candidateNames(deploymentId)) {
    const found = await store.read({ namespace, name }, signal);
    if (found !== undefined && bears(found, deploymentId)) return found;
  }
  return undefined;
}

/** Names under which the object of a unit may be found: ours, and the one an earlier manager would have given it. */
export function candidateNames(deploymentId: string): readonly string[] {
  const names = new Set([objectName(deploymentId), upstreamObjectName(deploymentId)]);
  return [...names].filter((name) => isValidName("dns-1123-subdomain", name));
}

function bears(object: StoredClass, deploymentId: string): boolean {
  return deploymentIdOf(object) === deploymentId || isObjectOf(object, deploymentId);
}

function cached(deploymentId: string, directory: ClassDirectory): readonly StoredClass[] {
  const found = [...directory.find(deploymentId), ...directory.find(upstreamObjectName(deploymentId))];
  return [...new Set(found)].filter((one) => bears(one, deploymentId));
}

function ambiguous(deploymentId: string, found: readonly StoredClass[]): Error {
  const where = found.map(({ metadata }) => metadata.namespace).toSorted();
  return failedPrecondition(
    `deployment "${deploymentId}"`,
    `deployment "${deploymentId}" exists in several namespaces (${where.join(", ")}); name the one that is meant`,
  );
}
