import { err, ok, type Result } from "@oaas/foundation";
import { formatApiVersion, type JsonObject, type Status } from "@oaas/kube-core";
import { KIND_DATA } from "../kinds/built-in/kind-data.ts";
import { badRequest, invalid } from "../request/response/status-errors.ts";
import { apiVersionOf, isBuiltIn } from "../verbs/verb-context.ts";
import type { KindInVersion } from "./admit-body.ts";
import { textAt } from "../kinds/json-access.ts";
import { nameOf } from "./metadata.ts";

/** Adds a missing apiVersion and kind to an object. Returns the real server's error for a different type. */
export function checkBodyType(of: KindInVersion, sent: JsonObject): Result<JsonObject, Status> {
  const apiVersion = apiVersionOf(of);
  const { kind } = of.kind;
  const isRight = sent["apiVersion"] === apiVersion && sent["kind"] === kind;
  if (isRight) return ok(sent);
  return isBuiltIn(of.kind) ? checkBuiltInType(of, sent, apiVersion) : checkCustomType(of, sent, apiVersion);
}

function checkBuiltInType(of: KindInVersion, sent: JsonObject, apiVersion: string): Result<JsonObject, Status> {
  const { kind } = of.kind;
  const [bodyKind, bodyVersion] = [textAt(sent, "kind") || kind, textAt(sent, "apiVersion") || apiVersion];
  if (bodyKind === kind && bodyVersion === apiVersion) return ok({ ...sent, kind, apiVersion });
  const version = bodyVersion.split("/").at(-1) ?? "";
  if (bodyKind === kind && isOldVersion(of, bodyVersion))
    return err(badRequest(formatVersionMismatch(bodyVersion, apiVersion)));
  if (isKnownType(bodyKind, bodyVersion)) {
    const types = `converting (${version}.${bodyKind}) to (${getPackage(of.kind.group)}.${kind}): unknown conversion`;
    return err(
      badRequest(`${bodyKind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${types}`),
    );
  }
  const reason = `no kind ${JSON.stringify(bodyKind)} is registered for version ${JSON.stringify(bodyVersion)} in scheme "pkg/runtime/scheme.go:111"`;
  return err(badRequest(`${bodyKind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${reason}`));
}

function formatVersionMismatch(bodyVersion: string, expectedVersion: string): string {
  return `the API version in the data (${bodyVersion}) does not match the expected API version (${expectedVersion})`;
}

/** Versions that are no longer served but that the real server still decodes. */
const OLD_VERSIONS: ReadonlySet<string> = new Set([
  "apps/v1beta1",
  "apps/v1beta2",
  "autoscaling/v2beta1",
  "autoscaling/v2beta2",
  "batch/v1beta1",
  "coordination.k8s.io/v1beta1",
  "discovery.k8s.io/v1beta1",
  "events.k8s.io/v1beta1",
  "extensions/v1beta1",
  "networking.k8s.io/v1beta1",
  "policy/v1beta1",
  "rbac.authorization.k8s.io/v1alpha1",
  "rbac.authorization.k8s.io/v1beta1",
  "scheduling.k8s.io/v1alpha1",
  "scheduling.k8s.io/v1beta1",
  "storage.k8s.io/v1beta1",
]);

function isOldVersion({ kind }: KindInVersion, bodyKind: string): boolean {
  const isServed = kind.versions.some((version) => apiVersionOf({ kind, version }) === bodyKind);
  const isOwn = bodyKind.startsWith(`${kind.group}/`) || bodyKind.startsWith("extensions/");
  return isServed || (isOwn && OLD_VERSIONS.has(bodyKind));
}

function isKnownType(kind: string, apiVersion: string): boolean {
  return KIND_DATA.resources.some((resource) => resource.kind === kind && formatApiVersion(resource) === apiVersion);
}

/** The Go package of a group. */
function getPackage(group: string): string {
  return group === "" ? "core" : (group.split(".")[0] ?? "");
}

function checkCustomType(of: KindInVersion, sent: JsonObject, apiVersion: string): Result<JsonObject, Status> {
  const { kind, group } = of.kind;
  const [bodyKind, bodyVersion] = [textAt(sent, "kind"), textAt(sent, "apiVersion")];
  if (bodyKind === "") {
    const text = JSON.stringify(sent);
    const reason = `Object 'Kind' is missing in '${text}' (${text})`;
    return err(badRequest(`the object provided is unrecognized (must be of type ${kind}): ${reason}`));
  }
  if (bodyVersion !== apiVersion) {
    return err(badRequest(formatVersionMismatch(bodyVersion, apiVersion)));
  }
  const error = {
    reason: "FieldValueInvalid",
    field: "kind",
    message: `Invalid value: ${JSON.stringify(bodyKind)}: must be ${kind}`,
  };
  return err(invalid({ group, kind: bodyKind }, nameOf(sent), [error]));
}
