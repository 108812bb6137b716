import type { JsonObject } from "@oaas/kube-core";
import type { ClusterObjects } from "../../controllers/cluster-objects.ts";
import { hasObject, objectAt, objectsAt, textAt } from "../../kinds/json-access.ts";
import { isEmptySelector, matchesSelector } from "../../kinds/validation/selectors.ts";
import { allowsPath, allowsResource, isSubject, type PathAttempt, type ResourceAttempt } from "./policy-rule.ts";
import { MASTERS, type User } from "../authentication/user.ts";

const GROUP = "rbac.authorization.k8s.io";

/** The rules of a user: cluster-wide and per namespace. */
interface UserRules {
  readonly clusterWide: readonly JsonObject[];
  readonly byNamespace: ReadonlyMap<string, readonly JsonObject[]>;
}

/** The objects it reads. */
export type AccessObjects = Pick<ClusterObjects, "get" | "list" | "onChange">;

/**
 * Authorizes by roles and bindings. The rules of a user are collected once and cached until a role or binding changes.
 * Rules of aggregated roles are computed from their sources.
 */
export class Authorizer {
  readonly #objects: AccessObjects;
  readonly #rulesByUser = new Map<string, UserRules>();

  constructor(objects: AccessObjects) {
    this.#objects = objects;
    objects.onChange(({ kind }) => {
      if (kind.group === GROUP) this.#rulesByUser.clear();
    });
  }

  canAccessResource(user: User, attempt: ResourceAttempt): boolean {
    if (user.groups.includes(MASTERS)) return true;
    return this.listRules(user, attempt.namespace).some((rule) => allowsResource(rule, attempt));
  }

  canAccessPath(user: User, attempt: PathAttempt): boolean {
    if (user.groups.includes(MASTERS)) return true;
    return this.#getUserRules(user).clusterWide.some((rule) => allowsPath(rule, attempt));
  }

  /** The rules of a user in a namespace, or cluster-wide without one. */
  listRules(user: User, namespace = ""): readonly JsonObject[] {
    const { clusterWide, byNamespace } = this.#getUserRules(user);
    return [...clusterWide, ...(byNamespace.get(namespace) ?? [])];
  }

  #getUserRules(user: User): UserRules {
    const key = JSON.stringify([user.name, user.groups]);
    const cached = this.#rulesByUser.get(key);
    if (cached !== undefined) return cached;
    const rules = this.#collectRules(user);
    // Bounds the cache: users come and go with their tokens.
    if (this.#rulesByUser.size >= 1000) this.#rulesByUser.clear();
    this.#rulesByUser.set(key, rules);
    return rules;
  }

  #collectRules(user: User): UserRules {
    const clusterWide = this.#listBindings("clusterrolebindings", user).flatMap(
      (binding) => this.resolveRules(binding, "") ?? [],
    );
    const byNamespace = new Map<string, JsonObject[]>();
    for (const binding of this.#listBindings("rolebindings", user)) {
      const namespace = textAt(objectAt(binding, "metadata"), "namespace");
      const rules = byNamespace.get(namespace) ?? [];
      rules.push(...(this.resolveRules(binding, namespace) ?? []));
      byNamespace.set(namespace, rules);
    }
    return { clusterWide, byNamespace };
  }

  #listBindings(resource: string, user: User): readonly JsonObject[] {
    return this.#objects.list({ group: GROUP, resource }).filter((binding) => {
      const namespace = textAt(objectAt(binding, "metadata"), "namespace");
      return objectsAt(binding, "subjects").some((subject) => isSubject(subject, user, namespace));
    });
  }

  /** The rules of the role that a binding names; undefined when it does not exist. */
  resolveRules(binding: JsonObject, namespace: string): readonly JsonObject[] | undefined {
    const reference = objectAt(binding, "roleRef");
    const name = textAt(reference, "name");
    if (textAt(reference, "kind") === "Role") {
      const role = this.#objects.get({ group: GROUP, resource: "roles" }, { namespace, name });
      return role === undefined ? undefined : objectsAt(role, "rules");
    }
    const role = this.#objects.get({ group: GROUP, resource: "clusterroles" }, { name });
    return role === undefined ? undefined : this.#resolveClusterRules(role, new Set([name]));
  }

  /** The rules of a cluster role and of the roles it aggregates, recursively. */
  #resolveClusterRules(role: JsonObject, seen: Set<string>): readonly JsonObject[] {
    const own = objectsAt(role, "rules");
    if (!hasObject(role, "aggregationRule")) return own;
    const selectors = objectsAt(objectAt(role, "aggregationRule"), "clusterRoleSelectors");
    const aggregated = this.#objects.list({ group: GROUP, resource: "clusterroles" }).filter((other) => {
      const metadata = objectAt(other, "metadata");
      const isNew = !seen.has(textAt(metadata, "name"));
      return (
        isNew &&
        selectors.some(
          (selector) => isEmptySelector(selector) || matchesSelector(selector, objectAt(metadata, "labels")),
        )
      );
    });
    for (const other of aggregated) seen.add(textAt(objectAt(other, "metadata"), "name"));
    return [...own, ...aggregated.flatMap((other) => this.#resolveClusterRules(other, seen))];
  }
}
