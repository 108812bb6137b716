import { isFault } from "@oaas/foundation";
import { keyOf, ownerReferenceTo, safeName, type KubeObject, type Stored } from "@oaas/kube-core";
import type { DeploymentTemplateSpec } from "@oaas/contracts/crd";
import { resourceType, type InformerPool, type InformerView, type KubeClient } from "@oaas/kube-runtime";
import { userTemplate, type Template } from "../../templates/index.ts";
import type { ParsedTemplate, TemplateObject } from "./template-sources.ts";

/** A stored template revision. Kubernetes stores the revisions of its own workloads in the same kind. */
interface ControllerRevision extends KubeObject {
  readonly revision: number;
  readonly data?: DeploymentTemplateSpec;
}

const CONTROLLER_REVISIONS = resourceType<ControllerRevision>({
  group: "apps",
  version: "v1",
  kind: "ControllerRevision",
  resource: "controllerrevisions",
  namespaced: true,
});

/** Names the template of a revision. */
const TEMPLATE_LABEL = "oaas.io/template";
const REVISION_ANNOTATION = "oaas.io/template-revision";

const idOf = (namespace: string, template: string, revision: string): string => `${namespace}/${template}/${revision}`;
const INDEXES = {
  revision: ({ metadata }: Stored<ControllerRevision>): string[] => [
    idOf(
      metadata.namespace ?? "",
      metadata.ownerReferences?.[0]?.name ?? "",
      metadata.annotations?.[REVISION_ANNOTATION] ?? "",
    ),
  ],
};

/**
 * Stores every revision of a user template that a class uses, so that a class that has not moved to the newest revision
 * can still be reconciled, also after a restart. The revisions are deleted with their template.
 */
export class TemplateRevisions {
  readonly #view: InformerView<ControllerRevision, "revision">;
  readonly #parsed = new WeakMap<Stored<ControllerRevision>, Template | undefined>();
  /** Revisions that this process wrote; the cache may lag behind. */
  readonly #written = new Set<string>();

  constructor(pool: InformerPool, namespaces: readonly string[] | undefined) {
    this.#view = pool.view(
      CONTROLLER_REVISIONS,
      namespaces,
      { labelSelector: TEMPLATE_LABEL },
      { indexes: INDEXES, isOptional: true },
    );
  }

  /** The template in this revision; undefined when it is not stored. */
  find(namespace: string, template: string, revision: string): Template | undefined {
    const [stored] = this.#view.cache.byIndex("revision", idOf(namespace, template, revision));
    if (stored?.data === undefined) return undefined;
    if (!this.#parsed.has(stored)) {
      const parsed = userTemplate(template, stored.data);
      this.#parsed.set(stored, parsed.ok && parsed.value.revision === revision ? parsed.value : undefined);
    }
    return this.#parsed.get(stored);
  }

  /** Stores the current revision of a template, unless it is stored already. */
  async save(
    object: TemplateObject,
    { template, spec }: ParsedTemplate,
    client: Pick<KubeClient, "resource">,
    signal: AbortSignal,
  ): Promise<void> {
    const { name, namespace = "", generation = 1, uid } = object.metadata;
    const { revision = "" } = template;
    const id = `${uid} ${revision}`;
    if (this.#written.has(id) || this.#view.cache.byIndex("revision", idOf(namespace, name, revision)).length > 0)
      return;
    const stored: ControllerRevision = {
      apiVersion: "apps/v1",
      kind: "ControllerRevision",
      metadata: {
        name: safeName([name, revision.slice(0, 12)]),
        namespace,
        labels: { [TEMPLATE_LABEL]: safeName([name], { kind: "label-value" }) },
        annotations: { [REVISION_ANNOTATION]: revision },
        ownerReferences: [ownerReferenceTo(object, { blockOwnerDeletion: false })],
      },
      data: spec,
      revision: generation,
    };
    try {
      await client.resource(CONTROLLER_REVISIONS).create(stored, { signal });
    } catch (thrown) {
      if (!isFault(thrown, "already-exists")) throw thrown;
    }
    this.#written.add(id);
  }

  /** Deletes the revisions of a template that are not needed. */
  async prune(
    { metadata }: TemplateObject,
    isNeeded: (revision: string) => boolean,
    client: Pick<KubeClient, "resource">,
    signal: AbortSignal,
  ): Promise<void> {
    for (const stored of this.#view.cache.list(metadata.namespace)) {
      if (!(stored.metadata.ownerReferences ?? []).some(({ uid }) => uid === metadata.uid)) continue;
      const revision = stored.metadata.annotations?.[REVISION_ANNOTATION] ?? "";
      if (isNeeded(revision)) continue;
      this.#written.delete(`${metadata.uid} ${revision}`);
      await client
        .resource(CONTROLLER_REVISIONS)
        .delete(keyOf(stored), { uid: stored.metadata.uid, signal })
        .catch((thrown: unknown) => {
          if (!isFault(thrown, "not-found")) throw thrown;
        });
    }
  }
}
