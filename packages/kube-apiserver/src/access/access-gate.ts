import type { Status } from "@oaas/kube-core";
import type { ApiRequest } from "../api.ts";
import type { Attempt, Gate } from "../request/router.ts";
import type { Authenticator } from "./authenticator.ts";
import type { Authorizer } from "./authorizer.ts";
import { forbiddenPath, forbiddenResource, UNAUTHORIZED } from "./forbidden.ts";
import type { ResourceAttempt } from "./policy-rule.ts";
import { AUTHENTICATED, type User } from "./user.ts";

/** Who asks, and whether they may: tokens, impersonation, roles. */
export class AccessGate implements Gate {
  readonly #authenticator: Authenticator;
  readonly #authorizer: Authorizer;

  constructor(authenticator: Authenticator, authorizer: Authorizer) {
    this.#authenticator = authenticator;
    this.#authorizer = authorizer;
  }

  refusal(request: ApiRequest, attempt: Attempt): Status | undefined {
    const user = this.identify(request);
    if ("status" in user) return user;
    const { group, resource } = attempt;
    if (group === undefined || resource === undefined) {
      const visit = { verb: attempt.verb, path: attempt.path };
      return this.#authorizer.mayVisit(user, visit) ? undefined : forbiddenPath(user, visit);
    }
    const wanted: ResourceAttempt = { ...attempt, group, resource };
    return this.#authorizer.mayDo(user, wanted) ? undefined : forbiddenResource(user, wanted);
  }

  /** The user for whom the request is made; whoever speaks for another must be allowed to. */
  identify(request: Pick<ApiRequest, "headers">): User | Status {
    const user = this.#authenticator.userOf(request);
    if (user === undefined) return UNAUTHORIZED;
    const name = request.headers["impersonate-user"];
    if (name === undefined || name === "") return user;
    const groups = (request.headers["impersonate-group"] ?? "")
      .split(",")
      .map((group) => group.trim())
      .filter(Boolean);
    const attempts: readonly ResourceAttempt[] = [
      impersonation(name),
      ...groups.map((group) => ({ verb: "impersonate", group: "", resource: "groups", name: group })),
    ];
    const refused = attempts.find((attempt) => !this.#authorizer.mayDo(user, attempt));
    if (refused !== undefined) return forbiddenResource(user, refused);
    return { name, groups: [...groups, ...ownGroups(name), AUTHENTICATED] };
  }
}

const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

function impersonation(user: string): ResourceAttempt {
  const [, namespace, name] = ACCOUNT.exec(user) ?? [];
  if (namespace === undefined || name === undefined)
    return { verb: "impersonate", group: "", resource: "users", name: user };
  return { verb: "impersonate", group: "", resource: "serviceaccounts", namespace, name };
}

function ownGroups(user: string): readonly string[] {
  const [, namespace] = ACCOUNT.exec(user) ?? [];
  return namespace === undefined ? [] : ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}
