import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { violationText, type Violation } from "@oaas/foundation";
import type { ObjectKey } from "@oaas/kube-core";
import type { KubeClient } from "@oaas/kube-runtime";
import type { Template } from "../../templates/index.ts";
import type { Surroundings } from "./template-sources.ts";
import type { TemplateRevisions } from "./template-revisions.ts";
import { templateKey, userKey, type TemplateUsers } from "./template-users.ts";

/** Why a class stays with the revision it has. */
export type Held = NonNullable<NonNullable<ClassRuntimeStatus["template"]>["roll_out"]>;

/** The user templates that one class is to be judged by. */
export interface TemplateOffer {
  readonly templates: readonly Template[];
  /** Why the one it is made with is not the newest. */
  readonly held?: Held | undefined;
  /** For a class that may move now: what it falls back on, should it not be renderable with the newest. */
  readonly former?: TemplateOffer | undefined;
}

/** The templates of users: as they are, and for a class that has not moved to the newest revision yet, as they were. */
export class UserTemplates {
  readonly #surroundings: Surroundings;
  readonly #revisions: TemplateRevisions;
  readonly #users: TemplateUsers;

  constructor(surroundings: Surroundings, revisions: TemplateRevisions, users: TemplateUsers) {
    this.#surroundings = surroundings;
    this.#revisions = revisions;
    this.#users = users;
  }

  /** What this class may choose from: its own template in the revision that it may have at this moment. */
  offerTo(kind: string, key: ObjectKey, status: ClassRuntimeStatus | undefined): TemplateOffer {
    const { namespace } = key;
    const newest = this.#surroundings.userTemplates(namespace);
    const { name: id, revision } = status?.template ?? {};
    const object =
      id === undefined || revision === undefined ? undefined : this.#surroundings.templateObject(namespace, id);
    if (object === undefined || id === undefined || revision === undefined) return { templates: newest };
    const read = this.#surroundings.readTemplate(object);
    const newer = read.ok ? read.value.template.revision : undefined;
    if (newer === revision) return { templates: newest };
    const former = this.#revisions.find(namespace, object.metadata.name, revision);
    // What is not kept cannot be kept to.
    if (former === undefined) return { templates: newest };
    const templates = [...newest.filter((one) => one.id !== id), former];
    const held = newer === undefined ? invalid(read.ok ? [] : read.error) : this.#waits(kind, key, id, newer);
    if (held !== undefined) return { templates, held };
    const refused: Held = { state: "refused", message: "", ...(newer === undefined ? {} : { revision: newer }) };
    return { templates: newest, former: { templates, held: refused } };
  }

  /** Keeps the revision that a class is about to be made with; one that is kept already costs nothing. */
  async keep(
    namespace: string,
    { name, revision }: { readonly name: string; readonly revision?: string | undefined },
    client: Pick<KubeClient, "resource">,
    signal: AbortSignal,
  ): Promise<void> {
    const object = revision === undefined ? undefined : this.#surroundings.templateObject(namespace, name);
    const read = object && this.#surroundings.readTemplate(object);
    if (object && read?.ok === true && read.value.template.revision === revision)
      await this.#revisions.keep(object, read.value, client, signal);
  }

  #waits(kind: string, key: ObjectKey, id: string, revision: string): Held | undefined {
    const { mayMove, haltedBy } = this.#users.plan(templateKey(key.namespace, id), revision);
    if (mayMove.has(userKey(kind, key))) return undefined;
    if (haltedBy === undefined)
      return {
        revision,
        state: "waits",
        message: "Waits for its turn: classes move to the new revision a few at a time.",
      };
    const message = `Does not move, because ${haltedBy} failed with the new revision; mend the template, or that class.`;
    return { revision, state: "halted", message };
  }
}

function invalid(violations: readonly Violation[]): Held {
  const message = `The template was changed to something invalid: ${violations.map(violationText).join("; ")}`;
  return { state: "refused", message: message.slice(0, 1_000) };
}
