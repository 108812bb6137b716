import { controllerOf, parseApiVersion, type KubeObject, type Stored } from "@oaas/kube-core";
import type { Problem } from "../../lifecycle/observation/observation.ts";
import { problem } from "../../lifecycle/observation/problem.ts";
import type { Manifest } from "../../templates/index.ts";
import type { KindName, LiveChild } from "./child-cache.ts";

/** Children sorted by whether their name is free. */
export interface NameConflicts {
  /** Children that can be applied now. */
  readonly applicable: readonly Manifest[];
  /** Children that wait until their name is free. */
  readonly blocked: readonly Problem[];
  /** Our own children that must be deleted first. */
  readonly blocking: readonly LiveChild[];
}

const KNATIVE = "serving.knative.dev";

/**
 * Resolves conflicts between Knative Services and Kubernetes Services. Knative creates a Kubernetes Service with the
 * name of each of its own Services, so a class cannot have both. When a class moves from one to the other, the old one
 * is deleted first, and the new one waits until the objects that came with it are gone.
 *
 * `lookUp` finds an object regardless of its owner.
 */
export function resolveNameConflicts(
  children: readonly Manifest[],
  live: readonly LiveChild[],
  lookUp: (kind: KindName, manifest: Manifest) => Stored<KubeObject> | undefined,
): NameConflicts {
  const free: Manifest[] = [];
  const waiting: Problem[] = [];
  const inTheWay: LiveChild[] = [];
  for (const manifest of children) {
    const twinGroup = twinGroupOf(manifest);
    const exists = live.some(
      ({ object }) => object.apiVersion === manifest.apiVersion && isNamed(object, manifest.kind, manifest),
    );
    const twin =
      twinGroup === undefined || exists
        ? undefined
        : live.find(({ kind, object }) => kind.group === twinGroup && isNamed(object, "Service", manifest));
    if (twin !== undefined) inTheWay.push(twin);
    const holder = twin?.object ?? (twinGroup === KNATIVE ? knativeService(manifest, lookUp) : undefined);
    if (holder === undefined) free.push(manifest);
    else waiting.push(replacingProblem(manifest, holder));
  }
  return { applicable: free, blocked: waiting, blocking: inTheWay };
}

/** The API group of the Service kind that competes for the same name; undefined for every other kind. */
function twinGroupOf({ apiVersion, kind }: Manifest): string | undefined {
  if (kind !== "Service") return undefined;
  const parsed = parseApiVersion(apiVersion);
  if (!parsed.ok) return undefined;
  return parsed.value.group === "" ? KNATIVE : parsed.value.group === KNATIVE ? "" : undefined;
}

function isNamed({ kind, metadata }: KubeObject, expectedKind: string, manifest: Manifest): boolean {
  return kind === expectedKind && metadata.name === manifest.metadata.name;
}

/** The Kubernetes Service that Knative created for a Route, if it still exists. */
function knativeService(
  manifest: Manifest,
  lookUp: (kind: KindName, manifest: Manifest) => Stored<KubeObject> | undefined,
): Stored<KubeObject> | undefined {
  const service = lookUp({ group: "", version: "v1", kind: "Service" }, manifest);
  return service !== undefined && isOwnedByKnative(service) ? service : undefined;
}

/** Whether a Knative Route controls this object. */
export function isOwnedByKnative(object: Stored<KubeObject>): boolean {
  const controller = controllerOf(object);
  return controller?.apiVersion.startsWith(`${KNATIVE}/`) === true && controller.kind === "Route";
}

function replacingProblem({ apiVersion, kind, metadata }: Manifest, holder: Stored<KubeObject>): Problem {
  const origin = isOwnedByKnative(holder) ? "created by Knative" : "of the previous template";
  return problem("Replacing", `waits until the ${holder.apiVersion} ${holder.kind} ${origin} is deleted`, {
    apiVersion,
    kind,
    name: metadata.name ?? "",
  });
}
