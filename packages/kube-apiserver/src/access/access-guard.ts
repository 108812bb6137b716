import type { Status } from "@oaas/kube-core";
import type { ApiRequest } from "../api.ts";
import type { RequestAttributes, RequestGuard } from "../request/routing/router.ts";
import type { Authenticator } from "./authentication/authenticator.ts";
import type { Authorizer } from "./authorization/authorizer.ts";
import { forbiddenPath, forbiddenResource, UNAUTHORIZED } from "./authorization/forbidden.ts";
import { impersonateUser } from "./impersonation.ts";
import type { ResourceAttempt } from "./authorization/policy-rule.ts";
import type { User } from "./authentication/user.ts";

/** Authenticates and authorizes requests: tokens, impersonation, roles. */
export class AccessGuard implements RequestGuard {
  readonly #authenticator: Authenticator;
  readonly #authorizer: Authorizer;
  /** The user of a running request, for later authorization checks. */
  readonly #users = new WeakMap<object, User>();

  constructor(authenticator: Authenticator, authorizer: Authorizer) {
    this.#authenticator = authenticator;
    this.#authorizer = authorizer;
  }

  check(request: ApiRequest, attempt: RequestAttributes): Status | undefined {
    const user = this.#authenticate(request, attempt);
    if ("status" in user) return user;
    this.#users.set(request, user);
    const { group, resource } = attempt;
    if (group === undefined || resource === undefined) {
      const pathAttempt = { verb: attempt.verb, path: attempt.path };
      return this.#authorizer.canAccessPath(user, pathAttempt) ? undefined : forbiddenPath(user, pathAttempt);
    }
    const resourceAttempt: ResourceAttempt = { ...attempt, group, resource };
    return this.#authorizer.canAccessResource(user, resourceAttempt)
      ? undefined
      : forbiddenResource(user, resourceAttempt);
  }

  /** The user for whom a request was admitted; without a gate, the user who sent it. */
  identify(request: Pick<ApiRequest, "headers">): User | Status {
    return this.#users.get(request) ?? this.#authenticator.authenticate(request) ?? UNAUTHORIZED;
  }

  #authenticate(request: ApiRequest, attempt: RequestAttributes): User | Status {
    const user = this.#authenticator.authenticate(request);
    if (user === undefined) return UNAUTHORIZED;
    const { "impersonate-user": name = "" } = request.headers;
    return name === "" ? user : impersonateUser(this.#authorizer, user, request.headers, attempt);
  }
}
