import type { Status } from "@oaas/kube-core";
import type { RequestAttributes } from "../request/routing/router.ts";
import type { Authorizer } from "./authorization/authorizer.ts";
import { forbiddenPath, forbiddenResource } from "./authorization/forbidden.ts";
import type { ResourceAttempt } from "./authorization/policy-rule.ts";
import { AUTHENTICATED, type User } from "./authentication/user.ts";

const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;
const NODE = /^system:node:(.+)$/;

/** The requested identity. */
interface ImpersonationRequest {
  readonly name: string;
  readonly groups: readonly string[];
}

/**
 * Returns the impersonated user, or why it is denied. There are two ways: permission for this request on behalf of such
 * users (`impersonate-on:user-info:get`) plus permission to be that user (`impersonate:user-info`), or permission to
 * impersonate the user for any request (`impersonate`). The denial is that of the first way that applies.
 */
export function impersonateUser(
  authorizer: Authorizer,
  user: User,
  headers: Readonly<Record<string, string>>,
  attempt: RequestAttributes,
): User | Status {
  const requested = readImpersonation(headers);
  const denial = checkConstrainedImpersonation(authorizer, user, requested, attempt);
  if (denial === undefined) return createImpersonatedUser(requested);
  const deniedAlways = listAttempts(requested, "impersonate", "").find(
    (one) => !authorizer.canAccessResource(user, one),
  );
  if (deniedAlways === undefined) return createImpersonatedUser(requested);
  return denial === "another way" ? forbiddenResource(user, deniedAlways) : denial;
}

function readImpersonation(headers: Readonly<Record<string, string>>): ImpersonationRequest {
  const groups = (headers["impersonate-group"] ?? "")
    .split(",")
    .map((group) => group.trim())
    .filter(Boolean);
  return { name: headers["impersonate-user"] ?? "", groups };
}

function checkConstrainedImpersonation(
  authorizer: Authorizer,
  user: User,
  requested: ImpersonationRequest,
  attempt: RequestAttributes,
): Status | "another way" | undefined {
  const mode = getMode(requested);
  if (mode === undefined) return "another way";
  const verb = `impersonate-on:${mode}:${attempt.verb}`;
  const { group, resource } = attempt;
  if (group === undefined || resource === undefined) {
    const pathAttempt = { verb, path: attempt.path };
    if (!authorizer.canAccessPath(user, pathAttempt)) return forbiddenPath(user, pathAttempt);
  } else {
    const resourceAttempt: ResourceAttempt = { ...attempt, verb, group, resource };
    if (!authorizer.canAccessResource(user, resourceAttempt)) return forbiddenResource(user, resourceAttempt);
  }
  const denied = listAttempts(requested, `impersonate:${mode}`, "authentication.k8s.io").find(
    (one) => !authorizer.canAccessResource(user, one),
  );
  return denied === undefined ? undefined : forbiddenResource(user, denied);
}

/** The type of user, for rules about one request; nodes and service accounts have fixed groups. */
function getMode({ name, groups }: ImpersonationRequest): string | undefined {
  if (!NODE.test(name) && !ACCOUNT.test(name)) return "user-info";
  if (groups.length > 0) return undefined;
  return NODE.test(name) ? "arbitrary-node" : "serviceaccount";
}

/** The permissions needed to impersonate. */
function listAttempts({ name, groups }: ImpersonationRequest, verb: string, group: string): readonly ResourceAttempt[] {
  const [, namespace, account] = ACCOUNT.exec(name) ?? [];
  const [, node] = NODE.exec(name) ?? [];
  const self: ResourceAttempt =
    namespace !== undefined && account !== undefined
      ? { verb, group, resource: "serviceaccounts", namespace, name: account }
      : node !== undefined && verb !== "impersonate"
        ? { verb, group, resource: "nodes", name: node }
        : { verb, group, resource: "users", name };
  return [self, ...groups.map((each) => ({ verb, group, resource: "groups", name: each }))];
}

function createImpersonatedUser({ name, groups }: ImpersonationRequest): User {
  const [, namespace] = ACCOUNT.exec(name) ?? [];
  const accountGroups =
    namespace === undefined ? [] : ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  return { name, groups: [...groups, ...accountGroups, AUTHENTICATED] };
}
