import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { formatObjectKey, keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import { PRIORITY, type InformerView, type Source } from "@oaas/kube-runtime";
import { rollOut, type RollOut, type TemplateUser } from "../../templates/index.ts";

interface Plan {
  readonly revision: string;
  readonly rollOut: RollOut;
}

/** Identifies a template by its namespace and the id by which classes select it. */
export function templateKey(namespace: string, id: string): string {
  return formatObjectKey({ namespace, name: id });
}

/** Identifies a class in a roll-out. Classes move in the order of these keys. */
export function templateUserKey(kind: string, key: ObjectKey): string {
  return `${kind} ${formatObjectKey(key)}`;
}

/**
 * Tracks which class uses which revision of which user template, from the class status, and plans the roll-out of new
 * revisions.
 */
export class TemplateUsers {
  readonly #users = new Map<string, Map<string, TemplateUser>>();
  readonly #templateOf = new Map<string, string>();
  readonly #keys = new Map<string, ObjectKey>();
  /** Roll-outs of templates whose users have different revisions. */
  readonly #plans = new Map<string, Plan>();
  readonly #released = new Set<(users: readonly string[]) => void>();
  readonly #changed = new Set<(template: string) => void>();

  /** Starts to track the classes of a kind. */
  watch<T extends KubeObject>(
    kind: string,
    view: InformerView<T>,
    statusOf: (object: Stored<T>) => ClassRuntimeStatus | undefined,
  ): void {
    view.onChange(({ type, object }) => {
      const key = keyOf(object);
      const user = type === "deleted" ? undefined : templateUserOf(templateUserKey(kind, key), statusOf(object));
      const template = user && templateKey(key.namespace, user.template);
      this.#update(templateUserKey(kind, key), key, template, user?.user);
    });
  }

  /** The roll-out of this revision: which classes may move now. */
  plan(template: string, revision: string): RollOut {
    const existing = this.#plans.get(template);
    if (existing?.revision === revision) return existing.rollOut;
    const planned = rollOut(this.usersOf(template), revision);
    this.#plans.set(template, { revision, rollOut: planned });
    return planned;
  }

  usersOf(template: string): readonly TemplateUser[] {
    return [...(this.#users.get(template)?.values() ?? [])];
  }

  /** Enqueues the classes of a kind that may move now, or wait for another reason than before. */
  releasedSource(kind: string): Source {
    return (enqueue) => {
      const notify = (users: readonly string[]): void => {
        for (const user of users) {
          const key = this.#keys.get(user);
          if (key && user === templateUserKey(kind, key)) enqueue(key);
        }
      };
      this.#released.add(notify);
      return () => void this.#released.delete(notify);
    };
  }

  /** Enqueues the templates whose users changed. */
  changedSource(objectsOf: (template: string) => Iterable<ObjectKey>): Source {
    return (enqueue) => {
      const notify = (template: string): void => {
        for (const key of objectsOf(template)) enqueue(key, { priority: PRIORITY.low });
      };
      this.#changed.add(notify);
      return () => void this.#changed.delete(notify);
    };
  }

  #update(id: string, key: ObjectKey, template: string | undefined, user: TemplateUser | undefined): void {
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
    if (last?.revision === user.revision && last?.state === user.state && last?.rejects === user.rejects) return;
    this.#replan(template);
  }

  #replan(template: string): void {
    for (const notify of this.#changed) notify(template);
    const before = this.#plans.get(template);
    if (before === undefined) return;
    const users = this.usersOf(template);
    const planned = rollOut(users, before.revision);
    if (users.every(({ revision }) => revision === before.revision)) this.#plans.delete(template);
    else this.#plans.set(template, { revision: before.revision, rollOut: planned });
    const released = before.rollOut.waiting.filter((user) => planned.mayUpdate.has(user));
    const affected = planned.haltedBy === before.rollOut.haltedBy ? released : [...released, ...planned.waiting];
    if (affected.length > 0) for (const notify of this.#released) notify(affected);
  }
}

function templateUserOf(
  key: string,
  status: ClassRuntimeStatus | undefined,
): { readonly template: string; readonly user: TemplateUser } | undefined {
  const { name, revision, roll_out: hold } = status?.template ?? {};
  if (name === undefined || revision === undefined) return undefined;
  const state = status?.phase === "available" ? "available" : status?.phase === "degraded" ? "failed" : "moving";
  const refuses = hold?.state === "refused" ? hold.revision : undefined;
  return { template: name, user: { key, revision, state, ...(refuses === undefined ? {} : { refuses }) } };
}
