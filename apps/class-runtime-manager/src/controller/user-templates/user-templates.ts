import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { violationText, type Violation } from "@oaas/foundation";
import type { ObjectKey } from "@oaas/kube-core";
import type { KubeClient } from "@oaas/kube-runtime";
import type { Template } from "../../templates/index.ts";
import type { TemplateSources } from "./template-sources.ts";
import type { TemplateRevisions } from "./template-revisions.ts";
import { templateKey, templateUserKey, type TemplateUsers } from "./template-users.ts";

/** Why a class keeps its revision. */
export type HeldRevision = NonNullable<NonNullable<ClassRuntimeStatus["template"]>["roll_out"]>;

/** The user templates that one class may use. */
export interface TemplateOffer {
  readonly templates: readonly Template[];
  /** Why the class does not use the newest revision. */
  readonly held?: HeldRevision | undefined;
  /** The current revision, for a class that may move now but does not render with the newest. */
  readonly fallback?: TemplateOffer | undefined;
}

/** Selects the template revisions of a class: the newest, or its current one until its roll-out turn comes. */
export class UserTemplates {
  readonly #sources: TemplateSources;
  readonly #revisions: TemplateRevisions;
  readonly #users: TemplateUsers;

  constructor(sources: TemplateSources, revisions: TemplateRevisions, users: TemplateUsers) {
    this.#sources = sources;
    this.#revisions = revisions;
    this.#users = users;
  }

  /** The templates a class may choose from, its own in the revision that it may have now. */
  templatesFor(kind: string, key: ObjectKey, status: ClassRuntimeStatus | undefined): TemplateOffer {
    const { namespace } = key;
    const newest = this.#sources.userTemplates(namespace);
    const { name: id, revision } = status?.template ?? {};
    const object =
      id === undefined || revision === undefined ? undefined : this.#sources.findTemplateObject(namespace, id);
    if (object === undefined || id === undefined || revision === undefined) return { templates: newest };
    const read = this.#sources.readTemplate(object);
    const newer = read.ok ? read.value.template.revision : undefined;
    if (newer === revision) return { templates: newest };
    const current = this.#revisions.find(namespace, object.metadata.name, revision);
    // A revision that is not stored cannot be rendered.
    if (current === undefined) return { templates: newest };
    const templates = [...newest.filter((one) => one.id !== id), current];
    const held = newer === undefined ? invalidTemplate(read.ok ? [] : read.error) : this.#holdOf(kind, key, id, newer);
    if (held !== undefined) return { templates, held };
    const refused: HeldRevision = {
      state: "refused",
      message: "",
      ...(newer === undefined ? {} : { revision: newer }),
    };
    return { templates: newest, fallback: { templates, held: refused } };
  }

  /** Stores the revision that a class is about to use; no request when it is stored already. */
  async saveRevision(
    namespace: string,
    { name, revision }: { readonly name: string; readonly revision?: string | undefined },
    client: Pick<KubeClient, "resource">,
    signal: AbortSignal,
  ): Promise<void> {
    const object = revision === undefined ? undefined : this.#sources.findTemplateObject(namespace, name);
    const read = object && this.#sources.readTemplate(object);
    if (object && read?.ok === true && read.value.template.revision === revision)
      await this.#revisions.save(object, read.value, client, signal);
  }

  #holdOf(kind: string, key: ObjectKey, id: string, revision: string): HeldRevision | undefined {
    const { mayUpdate, haltedBy } = this.#users.plan(templateKey(key.namespace, id), revision);
    if (mayUpdate.has(templateUserKey(kind, key))) return undefined;
    if (haltedBy === undefined)
      return {
        revision,
        state: "waits",
        message: "Waits for its turn: classes move to the new revision a few at a time.",
      };
    const message = `Does not move, because ${haltedBy} failed with the new revision; fix the template or that class.`;
    return { revision, state: "halted", message };
  }
}

function invalidTemplate(violations: readonly Violation[]): HeldRevision {
  const message = `The template is invalid since its last change: ${violations.map(violationText).join("; ")}`;
  return { state: "refused", message: message.slice(0, 1_000) };
}
