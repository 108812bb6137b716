import type { Clock, Ids } from "@oaas/foundation";
import type { RequestGuard, EscalationGuard, VirtualResources } from "../request/routing/router.ts";
import { AccessGuard } from "./access-guard.ts";
import { RoleEscalationGuard } from "./role-escalation-guard.ts";
import { createVirtualResources } from "./virtual-resources.ts";
import { Authenticator } from "./authentication/authenticator.ts";
import { Authorizer, type AccessObjects } from "./authorization/authorizer.ts";
import { ServiceAccountTokens } from "./authentication/service-account-tokens.ts";
import { AUTHENTICATED, MASTERS, type User } from "./authentication/user.ts";

/** A user that may do everything. */
export const ADMINISTRATOR: User = { name: "admin", uid: "admin", groups: [MASTERS, AUTHENTICATED] };

export interface AccessOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Signs service account tokens; any holder of the key can create tokens. */
  readonly key: string;
  /** Users by token. */
  readonly users?: ReadonlyMap<string, User>;
  /** The user of requests without credentials: the administrator on an open server; anonymous by default. */
  readonly withoutCredentials?: User;
  /** Called on the first request, because the server does not exist yet when its gate is created. */
  readonly objects: () => AccessObjects;
}

/** Authentication, authorization, and the review APIs. */
export interface AccessControl {
  readonly guard: RequestGuard;
  readonly virtualResources: VirtualResources;
  readonly escalationGuard: EscalationGuard;
}

/** Access by tokens and roles. */
export function createAccessControl(options: AccessOptions): AccessControl {
  let cached: AccessControl | undefined;
  const control = (): AccessControl => (cached ??= buildAccessControl(options));
  return {
    guard: { check: (request, attempt) => control().guard.check(request, attempt) },
    virtualResources: { handle: (request) => control().virtualResources.handle(request) },
    escalationGuard: { check: (request, roleWrite) => control().escalationGuard.check(request, roleWrite) },
  };
}

function buildAccessControl({
  clock,
  ids,
  key,
  users = new Map(),
  withoutCredentials,
  objects,
}: AccessOptions): AccessControl {
  const tokens = new ServiceAccountTokens(key);
  const cluster = objects();
  const read = cluster.get.bind(cluster);
  const authenticator = new Authenticator({
    clock,
    users,
    tokens,
    read,
    ...(withoutCredentials === undefined ? {} : { withoutCredentials }),
  });
  const authorizer = new Authorizer(cluster);
  const guard = new AccessGuard(authenticator, authorizer);
  return {
    guard,
    virtualResources: createVirtualResources({ clock, ids, guard, authenticator, authorizer, tokens, read }),
    escalationGuard: new RoleEscalationGuard(guard, authorizer),
  };
}
