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
  const wanted = readImpersonation(headers);
  const refusal = refusalOnRequest(authorizer, user, wanted, attempt);
  if (refusal === undefined) return become(wanted);
  const refusedAlways = identities(wanted, "impersonate", "").find((one) => !authorizer.mayDo(user, one));
  if (refusedAlways === undefined) return become(wanted);
  return refusal === "another way" ? forbiddenResource(user, refusedAlways) : refusal;
}

function readImpersonation(headers: Readonly<Record<string, string>>): ImpersonationRequest {
  const groups = (headers["impersonate-group"] ?? "")
    .split(",")
    .map((group) => group.trim())
    .filter(Boolean);
  return { name: headers["impersonate-user"] ?? "", groups };
}

function refusalOnRequest(
  authorizer: Authorizer,
  user: User,
  wanted: ImpersonationRequest,
  attempt: RequestAttributes,
): Status | "another way" | undefined {
  const mode = modeOf(wanted);
  if (mode === undefined) return "another way";
  const verb = `impersonate-on:${mode}:${attempt.verb}`;
  const { group, resource } = attempt;
  if (group === undefined || resource === undefined) {
    const visit = { verb, path: attempt.path };
    if (!authorizer.mayVisit(user, visit)) return forbiddenPath(user, visit);
  } else {
    const on: ResourceAttempt = { ...attempt, verb, group, resource };
    if (!authorizer.mayDo(user, on)) return forbiddenResource(user, on);
  }
  const refused = identities(wanted, `impersonate:${mode}`, "authentication.k8s.io").find(
    (one) => !authorizer.mayDo(user, one),
  );
  return refused === undefined ? undefined : forbiddenResource(user, refused);
}

/** The type of user, for rules about one request; nodes and service accounts have fixed groups. */
function modeOf({ name, groups }: ImpersonationRequest): string | undefined {
  if (!NODE.test(name) && !ACCOUNT.test(name)) return "user-info";
  if (groups.length > 0) return undefined;
  return NODE.test(name) ? "arbitrary-node" : "serviceaccount";
}

/** The permissions needed to impersonate. */
function identities({ name, groups }: ImpersonationRequest, verb: string, group: string): readonly ResourceAttempt[] {
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

function become({ name, groups }: ImpersonationRequest): User {
  const [, namespace] = ACCOUNT.exec(name) ?? [];
  const own = namespace === undefined ? [] : ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  return { name, groups: [...groups, ...own, AUTHENTICATED] };
}
