import { equalJson, type JsonObject, type Status } from "@oaas/kube-core";
import type { ApiRequest } from "../api.ts";
import { hasObject, objectAt, objectsAt, textAt } from "../kinds/json-access.ts";
import { forbidden, notFound } from "../request/response/status-errors.ts";
import type { RoleWrite, EscalationGuard } from "../request/routing/router.ts";
import type { AccessGuard } from "./access-guard.ts";
import type { Authorizer } from "./authorization/authorizer.ts";
import { formatList, findMissingPermissions } from "./authorization/escalation.ts";
import { MASTERS, type User } from "./authentication/user.ts";

const GROUP = "rbac.authorization.k8s.io";
const ALL_PERMISSIONS: readonly JsonObject[] = [
  { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
  { nonResourceURLs: ["*"], verbs: ["*"] },
];

/**
 * Prevents privilege escalation: a role or binding can only grant permissions that the caller holds, unless it may
 * `escalate` or `bind`.
 */
export class RoleEscalationGuard implements EscalationGuard {
  readonly #guard: AccessGuard;
  readonly #authorizer: Authorizer;

  constructor(guard: AccessGuard, authorizer: Authorizer) {
    this.#guard = guard;
    this.#authorizer = authorizer;
  }

  check(request: ApiRequest, roleWrite: RoleWrite): Status | undefined {
    if (roleWrite.kind.group !== GROUP) return undefined;
    const user = this.#guard.identify(request);
    if ("status" in user) return user;
    if (user.groups.includes(MASTERS) || isGarbageCollectorUpdate(roleWrite)) return undefined;
    return roleWrite.kind.resource.endsWith("bindings")
      ? this.#checkBinding(user, roleWrite)
      : this.#checkRole(user, roleWrite);
  }

  #checkRole(user: User, roleWrite: RoleWrite): Status | undefined {
    const { kind, namespace, name, object } = roleWrite;
    const escalation = { verb: "escalate", group: GROUP, resource: kind.resource, namespace, name };
    if (this.#authorizer.canAccessResource(user, escalation)) return undefined;
    const isAggregated = hasObject(object, "aggregationRule");
    const denial = this.#checkRules(user, roleWrite, objectsAt(object, "rules"));
    // A caller that sets an aggregation rule must hold everything that may be aggregated.
    return denial ?? (isAggregated ? this.#checkAggregation(user, roleWrite) : undefined);
  }

  #checkAggregation(user: User, roleWrite: RoleWrite): Status | undefined {
    const missing = findMissingPermissions(this.#authorizer.listRules(user, roleWrite.namespace), ALL_PERMISSIONS);
    if (missing.length === 0) return undefined;
    return forbidden(roleWrite.kind, roleWrite.name, "must have cluster-admin privileges to use the aggregationRule");
  }

  #checkBinding(user: User, roleWrite: RoleWrite): Status | undefined {
    const { namespace, object } = roleWrite;
    const reference = objectAt(object, "roleRef");
    const [role, apiGroup] = [textAt(reference, "name"), textAt(reference, "apiGroup")];
    const resource = textAt(reference, "kind") === "Role" ? "roles" : "clusterroles";
    if (this.#authorizer.canAccessResource(user, { verb: "bind", group: apiGroup, resource, namespace, name: role })) {
      return undefined;
    }
    const rules = this.#authorizer.resolveRules(object, namespace);
    // The real server reports this for the binding's kind.
    if (rules === undefined) return notFound(roleWrite.kind, role);
    return this.#checkRules(user, roleWrite, rules);
  }

  #checkRules(user: User, { kind, namespace, name }: RoleWrite, rules: readonly JsonObject[]): Status | undefined {
    const missing = findMissingPermissions(this.#authorizer.listRules(user, namespace), rules);
    if (missing.length === 0) return undefined;
    const who = `user ${JSON.stringify(user.name)} (groups=${formatList(user.groups)})`;
    const reason = `${who} is attempting to grant RBAC permissions not currently held:\n${missing.join("\n")}`;
    return forbidden(kind, name, reason);
  }
}

/** Whether a change only removes garbage collection metadata and grants nothing. */
function isGarbageCollectorUpdate({ object, live }: RoleWrite): boolean {
  return live !== undefined && equalJson(omitCollectorMetadata(object), omitCollectorMetadata(live));
}

function omitCollectorMetadata(object: JsonObject): JsonObject {
  const {
    finalizers: _finalizers,
    ownerReferences: _owners,
    managedFields: _managers,
    resourceVersion: _version,
    ...metadata
  } = objectAt(object, "metadata");
  return { ...object, metadata };
}
