import { Fault } from "@oaas/foundation";
import { annotationOf, fieldConflictsOf, keyOf, refOf, type KubeObject, type Stored } from "@oaas/kube-core";
import { resourceType, type KubeClient } from "@oaas/kube-runtime";
import { REVISION_MIN_SCALE } from "../../enforcement/enforceable-values.ts";
import type { Problem } from "../../lifecycle/observation/observation.ts";
import { problemFromFault } from "../../lifecycle/observation/problem.ts";
import { ENFORCED_MIN_SCALE_ANNOTATION, type Manifest } from "../../templates/index.ts";
import type { ChildCache } from "./child-cache.ts";
import { FIELD_MANAGER } from "./ownership.ts";
import { readFromServer } from "./stray-children.ts";

const KNATIVE = { group: "serving.knative.dev", version: "v1" } as const;
const SERVICES = { ...KNATIVE, kind: "Service" };
const REVISIONS = resourceType<KubeObject>({ ...KNATIVE, kind: "Revision", resource: "revisions", namespaced: true });

interface KnativeService extends Stored<KubeObject> {
  readonly status?: { readonly latestCreatedRevisionName?: string; readonly latestReadyRevisionName?: string };
}

interface Outcome {
  /** The children to apply now: a Service stays as it is while its revision keeps a minimum that ended. */
  readonly applicable: readonly Manifest[];
  readonly problems: readonly Problem[];
  /** A fault worth a retry. */
  readonly retry?: Fault;
}

/**
 * Writes the minimum scale that enforcement chose to the revisions of Knative Services that serve now or next. Knative
 * scales a revision by its annotation without a new revision, so no pod restarts.
 *
 * Call it before the Services are applied: a Service keeps its annotation until its revisions are done, so that a pass
 * that fails halfway is repeated. Services without an enforced minimum cost no request. Needs Knative 1.21; earlier
 * versions read the annotation when they create the revision.
 */
export async function scaleRevisions(
  manifests: readonly Manifest[],
  deps: { readonly client: Pick<KubeClient, "resource">; readonly children: Pick<ChildCache, "get"> },
  signal: AbortSignal,
): Promise<Outcome> {
  const problems: Problem[] = [];
  const held = new Set<Manifest>();
  let retry: Fault | undefined;
  for (const manifest of manifests) {
    if (manifest.kind !== SERVICES.kind || !manifest.apiVersion.startsWith(`${KNATIVE.group}/`)) continue;
    const live: KnativeService | undefined = deps.children.get(SERVICES, keyOf(manifest));
    const minScale = annotationOf(manifest, ENFORCED_MIN_SCALE_ANNOTATION);
    if (live === undefined || (minScale ?? annotationOf(live, ENFORCED_MIN_SCALE_ANNOTATION)) === undefined) continue;
    const { latestCreatedRevisionName: created, latestReadyRevisionName: ready } = live.status ?? {};
    for (const name of new Set([created, ready])) {
      if (name === undefined) continue;
      const key = { namespace: keyOf(live).namespace, name };
      try {
        await scaleRevision(key, minScale, deps.client, signal);
      } catch (thrown) {
        const fault = Fault.from(thrown);
        problems.push(problemFromFault(fault, { ...refOf(manifest), kind: REVISIONS.kind, name }));
        if (fault.retryable) retry ??= fault;
        if (minScale === undefined) held.add(manifest);
      }
    }
  }
  return { applicable: manifests.filter((one) => !held.has(one)), problems, ...(retry ? { retry } : {}) };
}

async function scaleRevision(
  key: { readonly namespace: string; readonly name: string },
  minScale: string | undefined,
  client: Pick<KubeClient, "resource">,
  signal: AbortSignal,
): Promise<void> {
  const revision = await readFromServer(client, REVISIONS, key, signal);
  if (revision === undefined || annotationOf(revision, REVISION_MIN_SCALE) === minScale) return;
  const { apiVersion, kind, metadata } = revision;
  const manifest = {
    apiVersion,
    kind,
    // With the uid, so that a deleted revision is not created again.
    metadata: {
      ...key,
      uid: metadata.uid,
      ...(minScale === undefined ? {} : { annotations: { [REVISION_MIN_SCALE]: minScale } }),
    },
  };
  const api = client.resource(REVISIONS);
  try {
    await api.apply(manifest, { fieldManager: FIELD_MANAGER, signal });
  } catch (thrown) {
    const conflicts = thrown instanceof Fault ? fieldConflictsOf(thrown) : [];
    // As for children: an update is drift, an apply belongs to its manager.
    if (conflicts.length === 0 || conflicts.some((conflict) => conflict.apiVersion === undefined)) throw thrown;
    await api.apply(manifest, { fieldManager: FIELD_MANAGER, force: true, signal });
  }
}
