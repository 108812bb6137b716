import type { JsonObject } from "@oaas/kube-core";
import type { ClusterObjects } from "../../controllers/cluster-objects.ts";
import { hasObject, objectAt, objectsAt, textAt } from "../../kinds/json-access.ts";
import { isEmptySelector, matchesSelector } from "../../kinds/validation/selectors.ts";
import { allowsPath, allowsResource, isSubject, type PathAttempt, type ResourceAttempt } from "./policy-rule.ts";
import { MASTERS, type User } from "../authentication/user.ts";

const GROUP = "rbac.authorization.k8s.io";

/** The rules of a user: cluster-wide and per namespace. */
interface Rights {
  readonly everywhere: readonly JsonObject[];
  readonly within: ReadonlyMap<string, readonly JsonObject[]>;
}

/** The objects it reads. */
export type AccessObjects = Pick<ClusterObjects, "get" | "list" | "onChange">;

/**
 * Authorizes by roles and bindings. The rules of a user are collected once and cached until a role or binding changes.
 * Rules of aggregated roles are computed from their sources.
 */
export class Authorizer {
  readonly #objects: AccessObjects;
  readonly #rights = new Map<string, Rights>();

  constructor(objects: AccessObjects) {
    this.#objects = objects;
    objects.onChange(({ kind }) => {
      if (kind.group === GROUP) this.#rights.clear();
    });
  }

  mayDo(user: User, attempt: ResourceAttempt): boolean {
    if (user.groups.includes(MASTERS)) return true;
    return this.rulesFor(user, attempt.namespace).some((rule) => allowsResource(rule, attempt));
  }

  mayVisit(user: User, attempt: PathAttempt): boolean {
    if (user.groups.includes(MASTERS)) return true;
    return this.#rightsOf(user).everywhere.some((rule) => allowsPath(rule, attempt));
  }

  /** The rules of a user in a namespace, or cluster-wide without one. */
  rulesFor(user: User, namespace = ""): readonly JsonObject[] {
    const { everywhere, within } = this.#rightsOf(user);
    return [...everywhere, ...(within.get(namespace) ?? [])];
  }

  #rightsOf(user: User): Rights {
    const key = JSON.stringify([user.name, user.groups]);
    const known = this.#rights.get(key);
    if (known !== undefined) return known;
    const made = this.#gather(user);
    // Bounds the cache: users come and go with their tokens.
    if (this.#rights.size >= 1000) this.#rights.clear();
    this.#rights.set(key, made);
    return made;
  }

  #gather(user: User): Rights {
    const everywhere = this.#bindings("clusterrolebindings", user).flatMap(
      (binding) => this.rulesOf(binding, "") ?? [],
    );
    const within = new Map<string, JsonObject[]>();
    for (const binding of this.#bindings("rolebindings", user)) {
      const namespace = textAt(objectAt(binding, "metadata"), "namespace");
      const rules = within.get(namespace) ?? [];
      rules.push(...(this.rulesOf(binding, namespace) ?? []));
      within.set(namespace, rules);
    }
    return { everywhere, within };
  }

  #bindings(resource: string, user: User): readonly JsonObject[] {
    return this.#objects.list({ group: GROUP, resource }).filter((binding) => {
      const namespace = textAt(objectAt(binding, "metadata"), "namespace");
      return objectsAt(binding, "subjects").some((subject) => isSubject(subject, user, namespace));
    });
  }

  /** The rules of the role that a binding names; undefined when it does not exist. */
  rulesOf(binding: JsonObject, namespace: string): readonly JsonObject[] | undefined {
    const reference = objectAt(binding, "roleRef");
    const name = textAt(reference, "name");
    if (textAt(reference, "kind") === "Role") {
      const role = this.#objects.get({ group: GROUP, resource: "roles" }, { namespace, name });
      return role === undefined ? undefined : objectsAt(role, "rules");
    }
    const role = this.#objects.get({ group: GROUP, resource: "clusterroles" }, { name });
    return role === undefined ? undefined : this.#clusterRules(role, new Set([name]));
  }

  /** The rules of a cluster role and of the roles it aggregates, recursively. */
  #clusterRules(role: JsonObject, seen: Set<string>): readonly JsonObject[] {
    const own = objectsAt(role, "rules");
    if (!hasObject(role, "aggregationRule")) return own;
    const selectors = objectsAt(objectAt(role, "aggregationRule"), "clusterRoleSelectors");
    const gathered = this.#objects.list({ group: GROUP, resource: "clusterroles" }).filter((other) => {
      const metadata = objectAt(other, "metadata");
      const isNew = !seen.has(textAt(metadata, "name"));
      return (
        isNew &&
        selectors.some(
          (selector) => isEmptySelector(selector) || matchesSelector(selector, objectAt(metadata, "labels")),
        )
      );
    });
    for (const other of gathered) seen.add(textAt(objectAt(other, "metadata"), "name"));
    return [...own, ...gathered.flatMap((other) => this.#clusterRules(other, seen))];
  }
}
