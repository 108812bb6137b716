import { equalJson, type JsonObject, type Status } from "@oaas/kube-core";
import type { ApiRequest } from "../api.ts";
import { hasObject, objectAt, objectsAt, textAt } from "../kinds/json-access.ts";
import { forbidden, notFound } from "../request/response/status-errors.ts";
import type { RoleWrite, EscalationGuard } from "../request/routing/router.ts";
import type { AccessGuard } from "./access-guard.ts";
import type { Authorizer } from "./authorization/authorizer.ts";
import { quotedList, rightsNotHeld } from "./authorization/escalation.ts";
import { MASTERS, type User } from "./authentication/user.ts";

const GROUP = "rbac.authorization.k8s.io";
const EVERYTHING: readonly JsonObject[] = [
  { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
  { nonResourceURLs: ["*"], verbs: ["*"] },
];

/**
 * Prevents privilege escalation: a role or binding can only grant permissions that the caller holds, unless it may
 * `escalate` or `bind`.
 */
export class RoleEscalationGuard implements EscalationGuard {
  readonly #gate: AccessGuard;
  readonly #authorizer: Authorizer;

  constructor(gate: AccessGuard, authorizer: Authorizer) {
    this.#gate = gate;
    this.#authorizer = authorizer;
  }

  refusal(request: ApiRequest, grant: RoleWrite): Status | undefined {
    if (grant.kind.group !== GROUP) return undefined;
    const user = this.#gate.identify(request);
    if ("status" in user) return user;
    if (user.groups.includes(MASTERS) || isOnlyForCollectors(grant)) return undefined;
    return grant.kind.resource.endsWith("bindings") ? this.#ofBinding(user, grant) : this.#ofRole(user, grant);
  }

  #ofRole(user: User, grant: RoleWrite): Status | undefined {
    const { kind, namespace, name, object } = grant;
    const escalation = { verb: "escalate", group: GROUP, resource: kind.resource, namespace, name };
    if (this.#authorizer.mayDo(user, escalation)) return undefined;
    const isGathering = hasObject(object, "aggregationRule");
    const refusal = this.#notHeld(user, grant, objectsAt(object, "rules"));
    // A caller that sets an aggregation rule must hold everything that may be aggregated.
    return refusal ?? (isGathering ? this.#mustHaveEverything(user, grant) : undefined);
  }

  #mustHaveEverything(user: User, grant: RoleWrite): Status | undefined {
    const missing = rightsNotHeld(this.#authorizer.rulesFor(user, grant.namespace), EVERYTHING);
    if (missing.length === 0) return undefined;
    return forbidden(grant.kind, grant.name, "must have cluster-admin privileges to use the aggregationRule");
  }

  #ofBinding(user: User, grant: RoleWrite): Status | undefined {
    const { namespace, object } = grant;
    const reference = objectAt(object, "roleRef");
    const [role, apiGroup] = [textAt(reference, "name"), textAt(reference, "apiGroup")];
    const resource = textAt(reference, "kind") === "Role" ? "roles" : "clusterroles";
    if (this.#authorizer.mayDo(user, { verb: "bind", group: apiGroup, resource, namespace, name: role })) {
      return undefined;
    }
    const rules = this.#authorizer.rulesOf(object, namespace);
    // The real server reports this for the binding's kind.
    if (rules === undefined) return notFound(grant.kind, role);
    return this.#notHeld(user, grant, rules);
  }

  #notHeld(user: User, { kind, namespace, name }: RoleWrite, rules: readonly JsonObject[]): Status | undefined {
    const missing = rightsNotHeld(this.#authorizer.rulesFor(user, namespace), rules);
    if (missing.length === 0) return undefined;
    const who = `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)})`;
    const why = `${who} is attempting to grant RBAC permissions not currently held:\n${missing.join("\n")}`;
    return forbidden(kind, name, why);
  }
}

/** Whether a change only removes garbage collection metadata and grants nothing. */
function isOnlyForCollectors({ object, live }: RoleWrite): boolean {
  return live !== undefined && equalJson(withoutCollected(object), withoutCollected(live));
}

function withoutCollected(object: JsonObject): JsonObject {
  const {
    finalizers: _finalizers,
    ownerReferences: _owners,
    managedFields: _managers,
    resourceVersion: _version,
    ...metadata
  } = objectAt(object, "metadata");
  return { ...object, metadata };
}
