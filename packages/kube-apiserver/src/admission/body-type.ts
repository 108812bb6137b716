import { err, ok, type Result } from "@oaas/foundation";
import type { JsonObject, Status } from "@oaas/kube-core";
import { badRequest, invalid } from "../request/refusals.ts";
import { apiVersionOf, isBuiltIn } from "../verbs/world.ts";
import type { OfKind } from "./admitted-body.ts";
import { nameOf } from "./metadata.ts";

/** The object with its type, when it says none or the right one; refused as the real server does otherwise. */
export function typedBody(of: OfKind, sent: JsonObject): Result<JsonObject, Status> {
  const apiVersion = apiVersionOf(of);
  const { kind } = of.kind;
  const isRight = sent["apiVersion"] === apiVersion && sent["kind"] === kind;
  if (isRight) return ok(sent);
  return isBuiltIn(of.kind) ? builtInBody(of, sent, apiVersion) : customBody(of, sent, apiVersion);
}

function builtInBody(of: OfKind, sent: JsonObject, apiVersion: string): Result<JsonObject, Status> {
  const { kind } = of.kind;
  const [said, saidVersion] = [textOf(sent["kind"]) || kind, textOf(sent["apiVersion"]) || apiVersion];
  if (said === kind && saidVersion === apiVersion) return ok({ ...sent, kind, apiVersion });
  const version = saidVersion.split("/").at(-1) ?? "";
  const why = `no kind ${JSON.stringify(said)} is registered for version ${JSON.stringify(saidVersion)} in scheme "pkg/runtime/scheme.go:111"`;
  return err(badRequest(`${said} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${why}`));
}

function customBody(of: OfKind, sent: JsonObject, apiVersion: string): Result<JsonObject, Status> {
  const { kind, group } = of.kind;
  const [said, saidVersion] = [textOf(sent["kind"]), textOf(sent["apiVersion"])];
  if (said === "") {
    const text = JSON.stringify(sent);
    const why = `Object 'Kind' is missing in '${text}' (${text})`;
    return err(badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why}`));
  }
  if (saidVersion !== apiVersion) {
    const why = `the API version in the data (${saidVersion}) does not match the expected API version (${apiVersion})`;
    return err(badRequest(why));
  }
  const error = {
    reason: "FieldValueInvalid",
    field: "kind",
    message: `Invalid value: ${JSON.stringify(said)}: must be ${kind}`,
  };
  return err(invalid({ group, kind: said }, nameOf(sent), [error]));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
