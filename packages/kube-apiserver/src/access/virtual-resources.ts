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
  readonly gate: AccessGuard;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly tokens: ServiceAccountTokens;
  readonly read: ReadObject;
}

const EXACTLY_ONE = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
const LEAST_SECONDS = 600;
const LONGEST_SECONDS = 2 ** 32;
const USUAL_SECONDS = 3600;

type Answer = Result<JsonObject, Status>;

/** Access reviews and service account tokens: answered immediately, never stored. */
export function createVirtualResources(ports: VirtualResourceDeps): VirtualResources {
  return {
    answer(question) {
      const user = ports.gate.identify(question.request);
      return "status" in user ? err(user) : answered(question, user, ports);
    },
  };
}

function answered(
  { kind, namespace, name, subresource, body }: VirtualRequest,
  user: User,
  ports: VirtualResourceDeps,
): Answer | undefined {
  if (kind.resource === "serviceaccounts" && subresource === "token") {
    return tokenRequest(body, { namespace, name: name ?? "" }, ports);
  }
  const object = { ...body, kind: kind.kind, apiVersion: `${kind.group}/v1` };
  switch (kind.resource) {
    case "selfsubjectaccessreviews":
      return accessReview(object, user, ports);
    case "subjectaccessreviews":
    case "localsubjectaccessreviews":
      return accessReview(object, undefined, ports);
    case "selfsubjectrulesreviews":
      return rulesReview(object, user, ports);
    case "selfsubjectreviews":
      return selfReview(object, user, ports);
    case "tokenreviews":
      return tokenReview(object, ports);
    default:
      return undefined;
  }
}

/** Whether a user may do something: the caller, or the user named in the review. */
function accessReview(object: JsonObject, self: User | undefined, { authorizer }: VirtualResourceDeps): Answer {
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
    const wanted = objectAt(spec, "nonResourceAttributes");
    return authorizer.mayVisit(user, { verb: textAt(wanted, "verb"), path: textAt(wanted, "path") });
  }
  const wanted = objectAt(spec, "resourceAttributes");
  const [verb = "", group = "", resource = "", subresource = "", name = "", namespace = ""] = [
    "verb",
    "group",
    "resource",
    "subresource",
    "name",
    "namespace",
  ].map((member) => textAt(wanted, member));
  return authorizer.mayDo(user, { verb, group, resource, subresource, name, namespace });
}

/** All permissions in a namespace. */
function rulesReview(object: JsonObject, user: User, { authorizer }: VirtualResourceDeps): Answer {
  const namespace = textAt(objectAt(object, "spec"), "namespace");
  if (namespace === "") return err(badRequest("no namespace on request"));
  const rules = authorizer.rulesFor(user, namespace);
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

function selfReview(object: JsonObject, user: User, { clock }: VirtualResourceDeps): Answer {
  const metadata = { creationTimestamp: wholeSeconds(clock.now()) };
  return ok({
    kind: object["kind"] ?? "",
    apiVersion: object["apiVersion"] ?? "",
    metadata,
    status: { userInfo: userInfo(user) },
  });
}

/** The owner of a token. */
function tokenReview(object: JsonObject, { authenticator }: VirtualResourceDeps): Answer {
  const token = textAt(objectAt(object, "spec"), "token");
  if (token === "") return err(badRequest("token is required for TokenReview in authentication"));
  const user = authenticator.userOfToken(token);
  const status =
    user === undefined
      ? { user: {}, error: "invalid bearer token" }
      : { authenticated: true, user: userInfo(user), audiences: [ISSUER] };
  return ok({ ...object, status });
}

/** A new service account token with the requested lifetime. */
function tokenRequest(
  object: JsonObject,
  account: { namespace: string; name: string },
  ports: VirtualResourceDeps,
): Answer {
  const found = ports.read({ group: "", resource: "serviceaccounts" }, account);
  if (found === undefined) return err(notFound({ group: "", resource: "serviceaccounts" }, account.name));
  const spec = objectAt(object, "spec");
  const seconds = numberAt(spec, "expirationSeconds") ?? USUAL_SECONDS;
  const errors = durationErrors(seconds);
  if (errors.length > 0)
    return err(invalidStatus({ group: "authentication.k8s.io", kind: "TokenRequest" }, "", errors));
  const audiences = textsAt(spec, "audiences").length > 0 ? textsAt(spec, "audiences") : [ISSUER];
  const uid = textAt(objectAt(found, "metadata"), "uid");
  const now = ports.clock.now();
  const expiresAt = now + seconds * 1000;
  const token = ports.tokens.issue({ ...account, uid, tokenId: ports.ids.uuid(), audiences, expiresAt }, now);
  return ok({
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name: account.name, namespace: account.namespace, uid, creationTimestamp: wholeSeconds(now) },
    spec: { audiences: [...audiences], expirationSeconds: seconds, boundObjectRef: spec["boundObjectRef"] ?? null },
    status: { token, expirationTimestamp: wholeSeconds(expiresAt) },
  });
}

function durationErrors(seconds: number): readonly FieldError[] {
  const field = "spec.expirationSeconds";
  if (seconds < LEAST_SECONDS) return [invalid(field, seconds, "may not specify a duration less than 10 minutes")];
  return seconds > LONGEST_SECONDS
    ? [invalid(field, seconds, "may not specify a duration larger than 2^32 seconds")]
    : [];
}
