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
  readonly #known = new WeakMap<object, User>();

  constructor(authenticator: Authenticator, authorizer: Authorizer) {
    this.#authenticator = authenticator;
    this.#authorizer = authorizer;
  }

  refusal(request: ApiRequest, attempt: RequestAttributes): Status | undefined {
    const user = this.#identified(request, attempt);
    if ("status" in user) return user;
    this.#known.set(request, user);
    const { group, resource } = attempt;
    if (group === undefined || resource === undefined) {
      const visit = { verb: attempt.verb, path: attempt.path };
      return this.#authorizer.mayVisit(user, visit) ? undefined : forbiddenPath(user, visit);
    }
    const wanted: ResourceAttempt = { ...attempt, group, resource };
    return this.#authorizer.mayDo(user, wanted) ? undefined : forbiddenResource(user, wanted);
  }

  /** The user for whom a request was admitted; without a gate, the user who sent it. */
  identify(request: Pick<ApiRequest, "headers">): User | Status {
    return this.#known.get(request) ?? this.#authenticator.userOf(request) ?? UNAUTHORIZED;
  }

  #identified(request: ApiRequest, attempt: RequestAttributes): User | Status {
    const user = this.#authenticator.userOf(request);
    if (user === undefined) return UNAUTHORIZED;
    const { "impersonate-user": name = "" } = request.headers;
    return name === "" ? user : impersonateUser(this.#authorizer, user, request.headers, attempt);
  }
}
