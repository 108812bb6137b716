import { Fault, type Clock } from "@oaas/foundation";
import { keyOf, type KubeObject, type ObjectKey } from "@oaas/kube-core";
import { metadataOf, resourceType, type KubeClient, type ResourceType } from "@oaas/kube-runtime";
import type { Logger } from "@oaas/observability";
import type { MissingReference } from "../../lifecycle/observation/observation.ts";
import type { Manifest, PodReference, ReferenceKind } from "../../templates/index.ts";
import { podReferences } from "../../templates/index.ts";

interface CheckedKind {
  readonly type: ResourceType<KubeObject>;
  /** How the manager may read one object: with the permission that it needs for other work, or only by name. */
  readonly read: "get" | "list";
}

/** Only the metadata is read: the values of a Secret never leave the API server. */
const core = (kind: string, resource: string): ResourceType<KubeObject> =>
  metadataOf(resourceType({ group: "", version: "v1", kind, resource, namespaced: true }));

const KINDS: Readonly<Record<ReferenceKind, CheckedKind>> = {
  Secret: { type: core("Secret", "secrets"), read: "get" },
  ConfigMap: { type: core("ConfigMap", "configmaps"), read: "list" },
  PersistentVolumeClaim: { type: core("PersistentVolumeClaim", "persistentvolumeclaims"), read: "list" },
  ServiceAccount: { type: core("ServiceAccount", "serviceaccounts"), read: "list" },
  PriorityClass: {
    type: metadataOf(
      resourceType({
        group: "scheduling.k8s.io",
        version: "v1",
        kind: "PriorityClass",
        resource: "priorityclasses",
        namespaced: false,
      }),
    ),
    read: "get",
  },
};

/** How long an answer is used. An object that does not exist is read again soon, so that a class heals. */
const TTL_MS = { exists: 60_000, missing: 1_000, forbidden: 300_000 } as const;
const MAX_ANSWERS = 20_000;

type Answer = keyof typeof TTL_MS;

interface ReferenceCheckerOptions {
  readonly client: Pick<KubeClient, "resource">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Finds objects that pods refer to and that do not exist. On nodes, the kubelet reports a missing Secret or ConfigMap
 * after the pod was created; without a kubelet nothing does.
 *
 * *Guarantees*: an object whose existence cannot be read counts as existing.
 */
export class ReferenceChecker {
  readonly #options: ReferenceCheckerOptions;
  readonly #answers = new Map<string, { readonly answer: Answer; readonly atMs: number }>();
  readonly #denied = new Set<ReferenceKind>();

  constructor(options: ReferenceCheckerOptions) {
    this.#options = options;
  }

  /** The missing objects that the pods of these children need, except those that are children themselves. */
  async findMissing(
    namespace: string,
    children: readonly Manifest[],
    signal: AbortSignal,
  ): Promise<readonly MissingReference[]> {
    const own = new Set(children.map(({ kind, metadata }) => `${kind}/${metadata.name ?? ""}`));
    const checks = children.flatMap((child) => {
      const references = podReferences(child).filter(({ kind, name }) => !own.has(`${kind}/${name}`));
      return references.map(async (reference): Promise<readonly MissingReference[]> => {
        const answer = await this.#answerFor(namespace, reference, signal);
        const { apiVersion, kind, metadata } = child;
        const workload = { apiVersion, kind, name: metadata.name ?? "" };
        return answer === "missing" ? [{ workload, ...reference }] : [];
      });
    });
    return (await Promise.all(checks)).flat();
  }

  async #answerFor(namespace: string, { kind, name }: PodReference, signal: AbortSignal): Promise<Answer | undefined> {
    const { type } = KINDS[kind];
    const key = type.namespaced ? { namespace, name } : { namespace: "", name };
    const id = `${kind} ${key.namespace}/${name}`;
    const known = this.#answers.get(id);
    const nowMs = this.#options.clock.monotonic();
    if (known !== undefined && nowMs - known.atMs < TTL_MS[known.answer]) return known.answer;
    const answer = await this.#read(kind, key, signal);
    if (answer === undefined) return undefined;
    if (this.#answers.size >= MAX_ANSWERS) this.#answers.clear();
    this.#answers.set(id, { answer, atMs: nowMs });
    return answer;
  }

  /** Undefined if the API does not answer; the next pass asks again. */
  async #read(kind: ReferenceKind, key: ObjectKey, signal: AbortSignal): Promise<Answer | undefined> {
    const { client, logger } = this.#options;
    const { type, read } = KINDS[kind];
    const api = client.resource(type);
    try {
      if (read === "get") return keyOf(await api.get(key, { signal })).name === key.name ? "exists" : "missing";
      const fieldSelector = `metadata.name=${key.name}`;
      const { items } = await api.list({ namespace: key.namespace, fieldSelector }, { signal });
      return items.length > 0 ? "exists" : "missing";
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind === "not-found") return "missing";
      if (fault.kind !== "permission-denied") return undefined;
      if (!this.#denied.has(kind)) logger.info("check references forbidden", { kind });
      this.#denied.add(kind);
      return "forbidden";
    }
  }
}
