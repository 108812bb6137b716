import { isFault } from "@oaas/foundation";
import { keyOf, ownerReferenceTo, safeName, type KubeObject, type Stored } from "@oaas/kube-core";
import type { DeploymentTemplateSpec } from "@oaas/contracts/crd";
import { resourceType, type InformerPool, type InformerView, type KubeClient } from "@oaas/kube-runtime";
import { userTemplate, type Template } from "../../templates/index.ts";
import type { ReadTemplate, TemplateObject } from "./template-sources.ts";

/** A revision of a template, kept as Kubernetes keeps those of its own workloads. */
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

/** The template whose revision it is. */
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
 * Every revision of a user template that a class was made with, so that a class which has not moved to the newest one yet can still be repaired and
 * changed as its own revision would have it, also after a restart. They go with their template.
 */
export class TemplateRevisions {
  readonly #view: InformerView<ControllerRevision, "revision">;
  readonly #read = new WeakMap<Stored<ControllerRevision>, Template | undefined>();
  /** Written by us, and perhaps not in the cache yet. */
  readonly #written = new Set<string>();

  constructor(pool: InformerPool, namespaces: readonly string[] | undefined) {
    this.#view = pool.view(
      CONTROLLER_REVISIONS,
      namespaces,
      { labelSelector: TEMPLATE_LABEL },
      { indexes: INDEXES, mayBeRefused: true },
    );
  }

  /** The template as it was in this revision; undefined when that is not kept. */
  find(namespace: string, template: string, revision: string): Template | undefined {
    const [kept] = this.#view.cache.byIndex("revision", idOf(namespace, template, revision));
    if (kept?.data === undefined) return undefined;
    if (!this.#read.has(kept)) {
      const made = userTemplate(template, kept.data);
      this.#read.set(kept, made.ok && made.value.revision === revision ? made.value : undefined);
    }
    return this.#read.get(kept);
  }

  /** Makes sure that the template as it is now is kept before anything is made with it. */
  async keep(
    object: TemplateObject,
    { template, spec }: ReadTemplate,
    client: Pick<KubeClient, "resource">,
    signal: AbortSignal,
  ): Promise<void> {
    const { name, namespace = "", generation = 1, uid } = object.metadata;
    const { revision = "" } = template;
    const id = `${uid} ${revision}`;
    if (this.#written.has(id) || this.#view.cache.byIndex("revision", idOf(namespace, name, revision)).length > 0)
      return;
    const kept: ControllerRevision = {
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
      await client.resource(CONTROLLER_REVISIONS).create(kept, { signal });
    } catch (thrown) {
      if (!isFault(thrown, "already-exists")) throw thrown;
    }
    this.#written.add(id);
  }

  /** Deletes the revisions of a template that nobody needs. */
  async drop(
    { metadata }: TemplateObject,
    isNeeded: (revision: string) => boolean,
    client: Pick<KubeClient, "resource">,
    signal: AbortSignal,
  ): Promise<void> {
    for (const kept of this.#view.cache.list(metadata.namespace)) {
      if (!(kept.metadata.ownerReferences ?? []).some(({ uid }) => uid === metadata.uid)) continue;
      const revision = kept.metadata.annotations?.[REVISION_ANNOTATION] ?? "";
      if (isNeeded(revision)) continue;
      this.#written.delete(`${metadata.uid} ${revision}`);
      await client
        .resource(CONTROLLER_REVISIONS)
        .delete(keyOf(kept), { uid: kept.metadata.uid, signal })
        .catch((thrown: unknown) => {
          if (!isFault(thrown, "not-found")) throw thrown;
        });
    }
  }
}
