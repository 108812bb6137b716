import { failedPrecondition, isFault, unavailable } from "@oaas/foundation";
import { hashJson } from "@oaas/foundation/hash";
import { keyOf, type KubeObject, type Stored } from "@oaas/kube-core";
import { resourceType, type KubeClient, type ResourceClient } from "@oaas/kube-runtime";
import { readFromServer } from "../controller/children/stray-children.ts";
import type { ObjectPreview } from "../controller/reconcile/preview-class.ts";
import { changedFields } from "../lifecycle/status/changed-fields.ts";
import {
  isManagedNamespace,
  NAMESPACE_LIMITS,
  renderNamespace,
  renderNamespaceLimits,
} from "../rendering/manifests/namespace.ts";
import type { Environment } from "../rendering/model/cluster-facts.ts";
import type { NamespaceProvisioner } from "./ports.ts";

const FIELD_MANAGER = "oprc-crm";

/** Namespaces whose limits are known to be applied. Beyond this number the oldest is applied again. */
const MAX_KNOWN = 1024;

const NAMESPACES = resourceType<KubeObject>({
  group: "",
  version: "v1",
  kind: "Namespace",
  resource: "namespaces",
  namespaced: false,
});

const LIMITS = {
  ResourceQuota: limitType("", "ResourceQuota", "resourcequotas"),
  LimitRange: limitType("", "LimitRange", "limitranges"),
  NetworkPolicy: limitType("networking.k8s.io", "NetworkPolicy", "networkpolicies"),
} as const satisfies Record<keyof typeof NAMESPACE_LIMITS, unknown>;

const LIMIT_KINDS = Object.keys(LIMITS) as (keyof typeof LIMITS)[];

type Limits = ReturnType<typeof renderNamespaceLimits>;

function limitType(group: string, kind: string, resource: string) {
  return resourceType<KubeObject>({ group, version: "v1", kind, resource, namespaced: true });
}

/**
 * Creates namespaces on the API server.
 *
 * Guarantees: a namespace that another client created is not changed; limits are written only when they differ from
 * those in the namespace.
 */
export class KubeNamespaces implements NamespaceProvisioner {
  readonly #client: KubeClient;
  readonly #namespaces: ResourceClient<KubeObject>;
  readonly #applied = new Map<string, string>();

  constructor(client: KubeClient) {
    this.#client = client;
    this.#namespaces = client.resource(NAMESPACES);
  }

  async ensure(name: string, environment: Environment | undefined, signal: AbortSignal): Promise<void> {
    const limits = renderNamespaceLimits(name, environment?.spec);
    await withPermissionAdvice(name, async () => {
      const namespace = await this.#findOrCreate(name, signal);
      rejectIfDeleting(namespace);
      if (this.#applied.get(name) !== hashJson([namespace.metadata.uid, limits]))
        await this.#setLimits(namespace, limits, signal);
    });
  }

  async update(name: string, environment: Environment | undefined, signal: AbortSignal): Promise<void> {
    await withPermissionAdvice(name, async () => {
      const namespace = await this.#namespaces.find({ namespace: "", name }, { signal });
      if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return;
      await this.#setLimits(namespace, renderNamespaceLimits(name, environment?.spec), signal);
    });
  }

  async preview(
    name: string,
    environment: Environment | undefined,
    signal: AbortSignal,
  ): Promise<readonly ObjectPreview[]> {
    const limits = renderNamespaceLimits(name, environment?.spec);
    return withPermissionAdvice(name, async () => {
      const namespace = await this.#namespaces.find({ namespace: "", name }, { signal });
      if (namespace === undefined) return [renderNamespace(name), ...limits].map((one) => previewOf(one, "create"));
      rejectIfDeleting(namespace);
      if (!isManagedNamespace(namespace.metadata)) return [];
      if (this.#applied.get(name) === hashJson([namespace.metadata.uid, limits])) return [];
      return this.#previewLimits(name, limits, signal);
    });
  }

  async #findOrCreate(name: string, signal: AbortSignal): Promise<Stored<KubeObject>> {
    const key = { namespace: "", name };
    const found = await this.#namespaces.find(key, { signal });
    if (found !== undefined) return found;
    try {
      return await this.#namespaces.create(renderNamespace(name), {
        fieldManager: FIELD_MANAGER,
        signal,
      });
    } catch (thrown) {
      if (isFault(thrown, "already-exists")) return this.#namespaces.get(key, { signal });
      throw thrown;
    }
  }

  async #setLimits({ metadata }: Stored<KubeObject>, limits: Limits, signal: AbortSignal): Promise<void> {
    const { name, uid } = metadata;
    if (!isManagedNamespace(metadata)) return;
    const changes = await this.#previewLimits(name, limits, signal);
    if (changes.length > 0) await this.#applyLimits(name, limits, signal);
    this.#record(name, hashJson([uid, limits]));
  }

  /** Applies the limits, and deletes those that the environment no longer has. */
  async #applyLimits(namespace: string, limits: Limits, signal: AbortSignal): Promise<void> {
    for (const kind of LIMIT_KINDS) {
      const objects = this.#client.resource(LIMITS[kind]);
      const limit = limits.find((one) => one.kind === kind);
      if (limit !== undefined) {
        await objects.apply(limit, { fieldManager: FIELD_MANAGER, force: true, signal });
        continue;
      }
      try {
        await objects.delete({ namespace, name: NAMESPACE_LIMITS[kind] }, { signal });
      } catch (thrown) {
        if (!isFault(thrown, "not-found")) throw thrown;
      }
    }
  }

  /** What `#applyLimits` would change. */
  async #previewLimits(namespace: string, limits: Limits, signal: AbortSignal): Promise<readonly ObjectPreview[]> {
    const previews = await Promise.all(
      LIMIT_KINDS.map(async (kind): Promise<readonly ObjectPreview[]> => {
        const objects = this.#client.resource(LIMITS[kind]);
        const live = await readFromServer(
          this.#client,
          LIMITS[kind],
          { namespace, name: NAMESPACE_LIMITS[kind] },
          signal,
        );
        const limit = limits.find((one) => one.kind === kind);
        if (limit === undefined) return live === undefined ? [] : [previewOf(live, "delete")];
        if (live === undefined) return [previewOf(limit, "create")];
        const applied = await objects.apply(limit, { fieldManager: FIELD_MANAGER, force: true, dryRun: true, signal });
        const changed = changedFields(live, applied, new Set());
        return changed.fields.length === 0 ? [] : [{ ...previewOf(limit, "update"), ...changed }];
      }),
    );
    return previews.flat();
  }

  #record(name: string, digest: string): void {
    this.#applied.delete(name);
    this.#applied.set(name, digest);
    const [oldest] = this.#applied.keys();
    if (this.#applied.size > MAX_KNOWN && oldest !== undefined) this.#applied.delete(oldest);
  }
}

/** Runs `work`, and converts permission faults into one that names the fix. */
async function withPermissionAdvice<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!isFault(thrown, "permission-denied") && !isFault(thrown, "unauthenticated")) throw thrown;
    throw failedPrecondition(
      "the manager's permissions",
      `the manager's service account cannot provision namespace "${name}": ${thrown.message}; create the namespace, or apply deploy/class-runtime-manager/create-namespaces`,
      { cause: thrown },
    );
  }
}

function rejectIfDeleting({ metadata: { name, deletionTimestamp } }: Stored<KubeObject>): void {
  if (deletionTimestamp === undefined) return;
  throw unavailable(`namespace "${name}"`, `namespace "${name}" is being deleted; deploy again when it is deleted`, {
    retryAfterMs: 2_000,
  });
}

function previewOf(object: KubeObject, change: ObjectPreview["change"]): ObjectPreview {
  const { apiVersion, kind } = object;
  return { apiVersion, kind, ...keyOf(object), change, fields: [], moreFields: 0 };
}
