import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { formatObjectKey, keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import { PRIORITY, type InformerView, type Source } from "@oaas/kube-runtime";
import { rollOut, type RollOut, type TemplateUser } from "../../templates/index.ts";

interface Plan {
  readonly revision: string;
  readonly rollOut: RollOut;
}

/** How a template is called here: by its namespace and the name by which classes select it. */
export function templateKey(namespace: string, id: string): string {
  return formatObjectKey({ namespace, name: id });
}

/** How a class is called in roll-outs; its order is that of these texts. */
export function userKey(kind: string, key: ObjectKey): string {
  return `${kind} ${formatObjectKey(key)}`;
}

/** Which classes are made with which revision of which user template, as their statuses say, and whose turn it is to move to a newer one. */
export class TemplateUsers {
  readonly #users = new Map<string, Map<string, TemplateUser>>();
  readonly #templateOf = new Map<string, string>();
  readonly #keys = new Map<string, ObjectKey>();
  /** Of templates that have users of another revision. */
  readonly #plans = new Map<string, Plan>();
  readonly #turns = new Set<(users: readonly string[]) => void>();
  readonly #changed = new Set<(template: string) => void>();

  /** Follows the classes of a kind. */
  follow<T extends KubeObject>(
    kind: string,
    view: InformerView<T>,
    statusOf: (object: Stored<T>) => ClassRuntimeStatus | undefined,
  ): void {
    view.onChange(({ type, object }) => {
      const key = keyOf(object);
      const user = type === "deleted" ? undefined : userOf(userKey(kind, key), statusOf(object));
      const template = user && templateKey(key.namespace, user.template);
      this.#note(userKey(kind, key), key, template, user?.user);
    });
  }

  /** Who may move to this revision of a template now. */
  plan(template: string, revision: string): RollOut {
    const present = this.#plans.get(template);
    if (present?.revision === revision) return present.rollOut;
    const made = rollOut(this.usersOf(template), revision);
    this.#plans.set(template, { revision, rollOut: made });
    return made;
  }

  usersOf(template: string): readonly TemplateUser[] {
    return [...(this.#users.get(template)?.values() ?? [])];
  }

  /** Wakes the classes of a kind whose turn has come, or whose wait has another reason now. */
  turns(kind: string): Source {
    return (enqueue) => {
      const tell = (users: readonly string[]): void => {
        for (const user of users) {
          const key = this.#keys.get(user);
          if (key && user === userKey(kind, key)) enqueue(key);
        }
      };
      this.#turns.add(tell);
      return () => void this.#turns.delete(tell);
    };
  }

  /** Wakes templates that are used by more, fewer or others than before. */
  changes(objectsOf: (template: string) => Iterable<ObjectKey>): Source {
    return (enqueue) => {
      const tell = (template: string): void => {
        for (const key of objectsOf(template)) enqueue(key, { priority: PRIORITY.low });
      };
      this.#changed.add(tell);
      return () => void this.#changed.delete(tell);
    };
  }

  #note(id: string, key: ObjectKey, template: string | undefined, user: TemplateUser | undefined): void {
    const before = this.#templateOf.get(id);
    if (before !== undefined && before !== template) {
      this.#users.get(before)?.delete(id);
      this.#replan(before);
    }
    if (template === undefined || user === undefined) {
      this.#templateOf.delete(id);
      this.#keys.delete(id);
      return;
    }
    this.#templateOf.set(id, template);
    this.#keys.set(id, key);
    const users = this.#users.get(template) ?? new Map<string, TemplateUser>();
    this.#users.set(template, users);
    const last = users.get(id);
    users.set(id, user);
    if (last?.revision === user.revision && last?.state === user.state && last?.refuses === user.refuses) return;
    this.#replan(template);
  }

  #replan(template: string): void {
    for (const tell of this.#changed) tell(template);
    const before = this.#plans.get(template);
    if (before === undefined) return;
    const users = this.usersOf(template);
    const made = rollOut(users, before.revision);
    if (users.every(({ revision }) => revision === before.revision)) this.#plans.delete(template);
    else this.#plans.set(template, { revision: before.revision, rollOut: made });
    const granted = before.rollOut.waiting.filter((user) => made.mayMove.has(user));
    const told = made.haltedBy === before.rollOut.haltedBy ? granted : [...granted, ...made.waiting];
    if (told.length > 0) for (const tell of this.#turns) tell(told);
  }
}

function userOf(
  key: string,
  status: ClassRuntimeStatus | undefined,
): { readonly template: string; readonly user: TemplateUser } | undefined {
  const { name, revision, roll_out: waits } = status?.template ?? {};
  if (name === undefined || revision === undefined) return undefined;
  const state = status?.phase === "available" ? "available" : status?.phase === "degraded" ? "failed" : "moving";
  const refuses = waits?.state === "refused" ? waits.revision : undefined;
  return { template: name, user: { key, revision, state, ...(refuses === undefined ? {} : { refuses }) } };
}
