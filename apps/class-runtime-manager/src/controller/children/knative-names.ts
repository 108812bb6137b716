import { controllerOf, parseApiVersion, type KubeObject, type Stored } from "@oaas/kube-core";
import type { Problem } from "../../lifecycle/observation/observation.ts";
import { problem } from "../../lifecycle/observation/problem.ts";
import type { Manifest } from "../../templates/index.ts";
import type { KindName, PresentChild } from "./child-cache.ts";

/** What can be applied now, what has to wait for its name, and which of our children must go first. */
export interface NameTurns {
  readonly free: readonly Manifest[];
  readonly waiting: readonly Problem[];
  readonly inTheWay: readonly PresentChild[];
}

const KNATIVE = "serving.knative.dev";

/**
 * Knative makes a Kubernetes Service of the same name for each of its own, so that the two can never be ours at once: when a class moves from
 * one to the other, the old one goes first, and the new one waits until what came with it is gone too.
 *
 * `lookUp` finds an object of a kind whoever owns it.
 */
export function nameTurns(
  children: readonly Manifest[],
  present: readonly PresentChild[],
  lookUp: (kind: KindName, manifest: Manifest) => Stored<KubeObject> | undefined,
): NameTurns {
  const free: Manifest[] = [];
  const waiting: Problem[] = [];
  const inTheWay: PresentChild[] = [];
  for (const manifest of children) {
    const twinGroup = twinGroupOf(manifest);
    const isThere = present.some(
      ({ object }) => object.apiVersion === manifest.apiVersion && isNamed(object, manifest.kind, manifest),
    );
    const twin =
      twinGroup === undefined || isThere
        ? undefined
        : present.find(({ kind, object }) => kind.group === twinGroup && isNamed(object, "Service", manifest));
    if (twin !== undefined) inTheWay.push(twin);
    const holder = twin?.object ?? (twinGroup === KNATIVE ? knativesOwn(manifest, lookUp) : undefined);
    if (holder === undefined) free.push(manifest);
    else waiting.push(replacing(manifest, holder));
  }
  return { free, waiting, inTheWay };
}

/** The group of the Service that would hold the same name; undefined for every other kind. */
function twinGroupOf({ apiVersion, kind }: Manifest): string | undefined {
  if (kind !== "Service") return undefined;
  const parsed = parseApiVersion(apiVersion);
  if (!parsed.ok) return undefined;
  return parsed.value.group === "" ? KNATIVE : parsed.value.group === KNATIVE ? "" : undefined;
}

function isNamed({ kind, metadata }: KubeObject, wanted: string, manifest: Manifest): boolean {
  return kind === wanted && metadata.name === manifest.metadata.name;
}

/** The Service that Knative made; it goes with the Route that made it. */
function knativesOwn(
  manifest: Manifest,
  lookUp: (kind: KindName, manifest: Manifest) => Stored<KubeObject> | undefined,
): Stored<KubeObject> | undefined {
  const there = lookUp({ group: "", version: "v1", kind: "Service" }, manifest);
  return there !== undefined && isKnatives(there) ? there : undefined;
}

/** Whether Knative made this object. */
export function isKnatives(object: Stored<KubeObject>): boolean {
  const controller = controllerOf(object);
  return controller?.apiVersion.startsWith(`${KNATIVE}/`) === true && controller.kind === "Route";
}

function replacing({ apiVersion, kind, metadata }: Manifest, holder: Stored<KubeObject>): Problem {
  const whose = isKnatives(holder) ? "that Knative made" : "of the former template";
  return problem("Replacing", `waits until the ${holder.apiVersion} ${holder.kind} ${whose} is gone`, {
    apiVersion,
    kind,
    name: metadata.name ?? "",
  });
}
