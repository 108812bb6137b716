import { err, ok, type Clock, type Ids, type Result } from "@oaas/foundation";
import type { JsonObject, Status } from "@oaas/kube-core";
import { type FieldError, invalidStatus } from "../schema/field-error.ts";
import { wholeSeconds } from "../controllers/objects/time.ts";
import { hasObject, numberAt, objectAt, textAt, textsAt } from "../kinds/json-access.ts";
import { invalid } from "../kinds/validation/field-errors.ts";
import { badRequest, notFound } from "../request/response/status-errors.ts";
import type { VirtualRequest, VirtualResources } from "../request/routing/router.ts";
import type { AccessGuard } from "./access-guard.ts";
import type { Authenticator, ReadObject } from "./authentication/authenticator.ts";
import type { Authorizer } from "./authorization/authorizer.ts";
import { ISSUER, type ServiceAccountTokens } from "./authentication/service-account-tokens.ts";
import { userInfo, type User } from "./authentication/user.ts";

export interface VirtualResourceDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly guard: AccessGuard;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly tokens: ServiceAccountTokens;
  readonly read: ReadObject;
}

const EXACTLY_ONE = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
const DEFAULT_SECONDS = 3600;

type VirtualResponse = Result<JsonObject, Status>;

/** Access reviews and service account tokens: answered immediately, never stored. */
export function createVirtualResources(deps: VirtualResourceDeps): VirtualResources {
  return {
    handle(request) {
      const user = deps.guard.identify(request.request);
      return "status" in user ? err(user) : handleVirtualRequest(request, user, deps);
    },
  };
}

function handleVirtualRequest(
  { kind, namespace, name, subresource, body }: VirtualRequest,
  user: User,
  deps: VirtualResourceDeps,
): VirtualResponse | undefined {
  if (kind.resource === "serviceaccounts" && subresource === "token") {
    return issueToken(body, { namespace, name: name ?? "" }, deps);
  }
  const object = { ...body, kind: kind.kind, apiVersion: `${kind.group}/v1` };
  switch (kind.resource) {
    case "selfsubjectaccessreviews":
      return reviewAccess(object, user, deps);
    case "subjectaccessreviews":
    case "localsubjectaccessreviews":
      return reviewAccess(object, undefined, deps);
    case "selfsubjectrulesreviews":
      return reviewRules(object, user, deps);
    case "selfsubjectreviews":
      return reviewSelf(object, user, deps);
    case "tokenreviews":
      return reviewToken(object, deps);
    default:
      return undefined;
  }
}

/** Whether a user may do something: the caller, or the user named in the review. */
function reviewAccess(
  object: JsonObject,
  self: User | undefined,
  { authorizer }: VirtualResourceDeps,
): VirtualResponse {
  const spec = objectAt(object, "spec");
  const errors: FieldError[] = [];
  const hasResource = hasObject(spec, "resourceAttributes");
  if (hasResource === hasObject(spec, "nonResourceAttributes")) {
    errors.push(
      invalid(
        hasResource ? "spec.nonResourceAttributes" : "spec.resourceAttributes",
        hasResource ? "cannot be specified in combination with resourceAttributes" : null,
        EXACTLY_ONE,
      ),
    );
  }
  const user: User = self ?? { name: textAt(spec, "user"), groups: textsAt(spec, "groups") };
  if (self === undefined && user.name === "" && user.groups.length === 0) {
    errors.push(invalid("spec.user", "", "at least one of user or group must be specified"));
  }
  if (errors.length > 0) return err(invalidStatus({ group: "authorization.k8s.io", kind: "" }, "", errors));
  return ok({ ...object, status: { allowed: isAllowed(spec, user, authorizer) } });
}

function isAllowed(spec: JsonObject, user: User, authorizer: Authorizer): boolean {
  if (hasObject(spec, "nonResourceAttributes")) {
    const attributes = objectAt(spec, "nonResourceAttributes");
    return authorizer.canAccessPath(user, { verb: textAt(attributes, "verb"), path: textAt(attributes, "path") });
  }
  const attributes = objectAt(spec, "resourceAttributes");
  const [verb = "", group = "", resource = "", subresource = "", name = "", namespace = ""] = [
    "verb",
    "group",
    "resource",
    "subresource",
    "name",
    "namespace",
  ].map((member) => textAt(attributes, member));
  return authorizer.canAccessResource(user, { verb, group, resource, subresource, name, namespace });
}

/** All permissions in a namespace. */
function reviewRules(object: JsonObject, user: User, { authorizer }: VirtualResourceDeps): VirtualResponse {
  const namespace = textAt(objectAt(object, "spec"), "namespace");
  if (namespace === "") return err(badRequest("no namespace on request"));
  const rules = authorizer.listRules(user, namespace);
  return ok({
    ...object,
    spec: {},
    status: {
      resourceRules: rules.filter((rule) => textsAt(rule, "resources").length > 0),
      nonResourceRules: rules.filter((rule) => textsAt(rule, "nonResourceURLs").length > 0),
      incomplete: false,
    },
  });
}

function reviewSelf(object: JsonObject, user: User, { clock }: VirtualResourceDeps): VirtualResponse {
  const metadata = { creationTimestamp: wholeSeconds(clock.now()) };
  return ok({
    kind: object["kind"] ?? "",
    apiVersion: object["apiVersion"] ?? "",
    metadata,
    status: { userInfo: userInfo(user) },
  });
}

/** The owner of a token. */
function reviewToken(object: JsonObject, { authenticator }: VirtualResourceDeps): VirtualResponse {
  const token = textAt(objectAt(object, "spec"), "token");
  if (token === "") return err(badRequest("token is required for TokenReview in authentication"));
  const user = authenticator.authenticateToken(token);
  const status =
    user === undefined
      ? { user: {}, error: "invalid bearer token" }
      : { authenticated: true, user: userInfo(user), audiences: [ISSUER] };
  return ok({ ...object, status });
}

/** A new service account token with the requested lifetime. */
function issueToken(
  object: JsonObject,
  account: { namespace: string; name: string },
  deps: VirtualResourceDeps,
): VirtualResponse {
  const found = deps.read({ group: "", resource: "serviceaccounts" }, account);
  if (found === undefined) return err(notFound({ group: "", resource: "serviceaccounts" }, account.name));
  const spec = objectAt(object, "spec");
  const seconds = numberAt(spec, "expirationSeconds") ?? DEFAULT_SECONDS;
  const errors = validateDuration(seconds);
  if (errors.length > 0)
    return err(invalidStatus({ group: "authentication.k8s.io", kind: "TokenRequest" }, "", errors));
  const audiences = textsAt(spec, "audiences").length > 0 ? textsAt(spec, "audiences") : [ISSUER];
  const uid = textAt(objectAt(found, "metadata"), "uid");
  const now = deps.clock.now();
  const expiresAt = now + seconds * 1000;
  const token = deps.tokens.issue({ ...account, uid, tokenId: deps.ids.uuid(), audiences, expiresAt }, now);
  return ok({
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name: account.name, namespace: account.namespace, uid, creationTimestamp: wholeSeconds(now) },
    spec: { audiences: [...audiences], expirationSeconds: seconds, boundObjectRef: spec["boundObjectRef"] ?? null },
    status: { token, expirationTimestamp: wholeSeconds(expiresAt) },
  });
}

function validateDuration(seconds: number): readonly FieldError[] {
  const field = "spec.expirationSeconds";
  if (seconds < MIN_SECONDS) return [invalid(field, seconds, "may not specify a duration less than 10 minutes")];
  return seconds > MAX_SECONDS ? [invalid(field, seconds, "may not specify a duration larger than 2^32 seconds")] : [];
}
