import type { JsonObject } from "@oaas/kube-core";
import type { ClusterObjects } from "../controllers/cluster-objects.ts";
import { hasObject, objectAt, objectsAt, textAt } from "../kinds/json-access.ts";
import { isEmptySelector, picks } from "../kinds/validation/selectors.ts";
import { allowsPath, allowsResource, isSubject, type PathAttempt, type ResourceAttempt } from "./policy-rule.ts";
import { MASTERS, type User } from "./user.ts";

const GROUP = "rbac.authorization.k8s.io";

/** The rules that hold for a user: everywhere, and in each namespace. */
interface Rights {
  readonly everywhere: readonly JsonObject[];
  readonly within: ReadonlyMap<string, readonly JsonObject[]>;
}

/** What of the cluster's objects it looks at. */
export type AccessObjects = Pick<ClusterObjects, "get" | "list" | "onChange">;

/**
 * Who may do what, by roles and bindings. What holds for a user is gathered once and kept until a role or binding changes.
 * Rules of roles that are gathered from others (aggregation) are those of the others at the time.
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

  /** The rules that hold for a user in a namespace, or without one in the whole cluster. */
  rulesFor(user: User, namespace = ""): readonly JsonObject[] {
    const { everywhere, within } = this.#rightsOf(user);
    return [...everywhere, ...(within.get(namespace) ?? [])];
  }

  #rightsOf(user: User): Rights {
    const key = JSON.stringify([user.name, user.groups]);
    const known = this.#rights.get(key);
    if (known !== undefined) return known;
    const made = this.#gather(user);
    // Users come and go with their tokens; what was gathered for them must not pile up.
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

  /** The rules of the role that a binding names; undefined when it is not there. */
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

  /** A cluster role's own rules and those of the roles that it gathers, which may gather others. */
  #clusterRules(role: JsonObject, seen: Set<string>): readonly JsonObject[] {
    const own = objectsAt(role, "rules");
    if (!hasObject(role, "aggregationRule")) return own;
    const selectors = objectsAt(objectAt(role, "aggregationRule"), "clusterRoleSelectors");
    const gathered = this.#objects.list({ group: GROUP, resource: "clusterroles" }).filter((other) => {
      const metadata = objectAt(other, "metadata");
      const isNew = !seen.has(textAt(metadata, "name"));
      return (
        isNew &&
        selectors.some((selector) => isEmptySelector(selector) || picks(selector, objectAt(metadata, "labels")))
      );
    });
    for (const other of gathered) seen.add(textAt(objectAt(other, "metadata"), "name"));
    return [...own, ...gathered.flatMap((other) => this.#clusterRules(other, seen))];
  }
}
