import type { Clock } from "@oaas/foundation";
import type { JsonObject } from "@oaas/kube-core";
import type { ApiRequest } from "../../api.ts";
import { objectAt, textAt } from "../../kinds/json-access.ts";
import type { ServiceAccountTokens } from "./service-account-tokens.ts";
import { ANONYMOUS, AUTHENTICATED, serviceAccountUser, type User } from "./user.ts";

/** Reads an object of the cluster. */
export type ReadObject = (
  kind: { readonly group: string; readonly resource: string },
  name: { readonly namespace?: string; readonly name: string },
) => JsonObject | undefined;

export interface AuthenticatorOptions {
  readonly clock: Clock;
  /** Users by token: the administrator and other built-in users. */
  readonly users: ReadonlyMap<string, User>;
  readonly tokens: ServiceAccountTokens;
  readonly read: ReadObject;
  /** The user of requests without credentials; anonymous by default. */
  readonly withoutCredentials?: User;
}

/** Authenticates requests. */
export class Authenticator {
  readonly #options: AuthenticatorOptions;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** Returns the user; anonymous without credentials; undefined when they are invalid. */
  authenticate({ headers }: Pick<ApiRequest, "headers">): User | undefined {
    const [scheme = "", token = ""] = (headers["authorization"] ?? "").split(" ");
    if (scheme.toLowerCase() !== "bearer" || token === "") return this.#options.withoutCredentials ?? ANONYMOUS;
    return this.authenticateToken(token);
  }

  authenticateToken(token: string): User | undefined {
    const user = this.#options.users.get(token);
    if (user !== undefined)
      return user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] };
    const issued = this.#options.tokens.read(token, this.#options.clock.now());
    if (issued === undefined) return undefined;
    const { namespace, name, uid } = issued;
    const account = this.#options.read({ group: "", resource: "serviceaccounts" }, { namespace, name });
    const isSame = account !== undefined && textAt(objectAt(account, "metadata"), "uid") === uid;
    return isSame ? serviceAccountUser(issued) : undefined;
  }
}
