import { err, ok, type Result } from "@oaas/foundation";
import { isJsonObject, type JsonObject, type Status } from "@oaas/kube-core";
import { checkBodyType } from "../../admission/body-type.ts";
import { validateStrictness } from "../../admission/strictness.ts";
import { parseJson, PROTOBUF, decodeObject, parseYamlBody } from "../../request/body/body.ts";
import { parseMediaRange } from "../../request/body/media-types.ts";
import { parseDeletionOptions, type FieldValidation } from "../../request/query/options.ts";
import { badRequest, unknownBodyType } from "../../request/response/status-errors.ts";
import type { ResourceRequest } from "../resource-request.ts";
import { isBuiltIn } from "../verb-context.ts";

/** The object in a request, and its decoding warnings. */
export function readRequestObject(
  target: ResourceRequest,
  validation: FieldValidation,
): Result<{ readonly object: JsonObject; readonly warnings: readonly string[] }, Status> {
  const { request, kind } = target;
  const contentType = request.headers["content-type"];
  if (!isBuiltIn(kind) && parseMediaRange(contentType ?? "").type === PROTOBUF) return err(unknownBodyType());
  const decoded = decodeObject(request.body, contentType, kind.kind);
  if (!decoded.ok) return decoded;
  const typed = checkBodyType(target, decoded.value.object);
  if (!typed.ok) return typed;
  const fieldWarnings = checkUnknownFields(target, typed.value, decoded.value.duplicates, validation);
  if (!fieldWarnings.ok) return fieldWarnings;
  target.warnings?.push(...fieldWarnings.value);
  return ok({ object: typed.value, warnings: fieldWarnings.value });
}

/** Warnings about ignored fields, or the rejection in strict mode. */
function checkUnknownFields(
  target: ResourceRequest,
  object: JsonObject,
  duplicates: readonly string[],
  validation: FieldValidation,
): Result<readonly string[], Status> {
  if (validation === "Ignore") return ok([]);
  const errors = validateStrictness(target, object, duplicates);
  if (validation === "Warn" || errors.length === 0) return ok(errors);
  const { kind } = target.kind;
  const reason = `strict decoding error: ${errors.join(", ")}`;
  return err(badRequest(`${kind} in version "${target.version.name}" cannot be handled as a ${kind}: ${reason}`));
}

/** The options of a deletion, from its query and body. */
export function readDeletionOptions({ request, query }: ResourceRequest): ReturnType<typeof parseDeletionOptions> {
  if (request.body === "") return parseDeletionOptions(query, undefined);
  const { type } = parseMediaRange(request.headers["content-type"] ?? "application/json");
  if (type === PROTOBUF) {
    const decoded = decodeObject(request.body, type, "DeleteOptions");
    return decoded.ok ? parseDeletionOptions(query, decoded.value.object) : decoded;
  }
  if (type !== "application/json" && type !== "application/yaml") return err(unknownBodyType());
  const value = type === "application/yaml" ? parseYamlBody(request.body) : parseJson(request.body);
  if (!value.ok) {
    const reason = typeof value.error === "string" ? value.error : value.error.message;
    return err(badRequest(`couldn't get version/kind; json parse error: ${reason}`));
  }
  if (!isJsonObject(value.value)) return err(badRequest("the body of a deletion must be DeleteOptions"));
  const { kind } = value.value;
  if (typeof kind === "string" && kind !== "" && kind !== "DeleteOptions") {
    const version = JSON.stringify(value.value["apiVersion"] ?? "v1");
    return err(
      badRequest(
        `no kind ${JSON.stringify(kind)} is registered for version ${version} in scheme "pkg/runtime/scheme.go:111"`,
      ),
    );
  }
  return parseDeletionOptions(query, value.value);
}
