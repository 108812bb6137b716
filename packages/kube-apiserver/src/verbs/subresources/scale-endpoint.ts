import { err, ok, type Result } from "@oaas/foundation";
import type { JsonObject, JsonValue, Status } from "@oaas/kube-core";
import { jsonResponse } from "../../request/response/responses.ts";
import { decodeObject } from "../../request/body/body.ts";
import type { Representation } from "../../request/body/media-types.ts";
import type { FieldValidation, WriteOptions } from "../../request/query/options.ts";
import { badRequest, methodNotAllowed } from "../../request/response/status-errors.ts";
import { changeObject, type ObjectChange } from "../change/change-object.ts";
import { checkName } from "../change/change-errors.ts";
import { createWriter } from "../change/new-object.ts";
import { applyPatch, createPatchResultError, type PatchType } from "../change/patch-object.ts";
import { listObjectWarnings, type VerbResult, type NamedRequest } from "../resource-request.ts";
import {
  decodeScale,
  applyScale,
  changeScale,
  createScale,
  findUnknownScaleFields,
  type ScaleChange,
} from "./scale.ts";
import { convertToVersion, type VerbContext } from "../verb-context.ts";

/** Returns the Scale of an object. */
export function createScaleResponse(
  target: NamedRequest,
  object: JsonObject,
  form: Representation,
  warnings: readonly string[] = [],
): VerbResult {
  const paths = target.version.scale;
  if (paths === undefined) return err(methodNotAllowed());
  const scale = createScale(target, paths, convertToVersion(target, object));
  return scale.ok ? ok(jsonResponse(200, JSON.stringify(scale.value), form, warnings)) : scale;
}

/** Replaces the Scale of an object. */
export async function updateScale(
  context: VerbContext,
  target: NamedRequest,
  options: WriteOptions,
  form: Representation,
): Promise<VerbResult> {
  const body = decodeObject(target.request.body, target.request.headers["content-type"], "Scale");
  if (!body.ok) return body;
  const read = readScaleBody(target, body.value.object, options.fieldValidation, createBodyError);
  if (!read.ok) return read;
  const error = checkName(read.value, target.name);
  if (error !== undefined) return err(error);
  return writeScale(context, target, { next: () => read, isApply: false }, options, form);
}

/** Patches or applies the Scale of an object. */
export async function patchScale(
  context: VerbContext,
  target: NamedRequest,
  { type, patch }: { readonly type: PatchType; readonly patch: JsonValue },
  options: WriteOptions,
  form: Representation,
): Promise<VerbResult> {
  if (type === "apply") {
    const writer = createWriter(context, target, options.manager, "scale");
    const next = applyScale(target, patch as JsonObject, writer, options.isForced);
    return writeScale(context, target, { next, isApply: true }, options, form);
  }
  const next: ScaleChange = (scale) => {
    const result = applyPatch(type, patch, scale, {});
    return result.ok ? readScaleBody(target, result.value, options.fieldValidation, createPatchResultError) : result;
  };
  return writeScale(context, target, { next, isApply: false }, options, form);
}

/** Decodes a Scale from a body or a patch; `createError` reports why it is invalid. */
function readScaleBody(
  target: NamedRequest,
  sent: JsonObject,
  validation: FieldValidation,
  createError: (sent: JsonObject, reason: string) => Status,
): Result<JsonObject, Status> {
  const { kind = "Scale", apiVersion = "autoscaling/v1" } = sent;
  const typed = { ...sent, kind, apiVersion };
  const type = createTypeError(typed);
  if (type !== undefined) return err(type);
  const unknown = validation === "Ignore" ? [] : findUnknownScaleFields(typed).map((path) => `unknown field "${path}"`);
  if (validation === "Warn") target.warnings?.push(...unknown);
  const read = decodeScale(typed);
  if (!read.ok) return err(createError(typed, read.error));
  if (validation !== "Strict" || unknown.length === 0) return read;
  return err(createError(typed, `strict decoding error: ${unknown.join(", ")}`));
}

async function writeScale(
  context: VerbContext,
  target: NamedRequest,
  step: { readonly next: ScaleChange; readonly isApply: boolean },
  options: WriteOptions,
  form: Representation,
): Promise<VerbResult> {
  const paths = target.version.scale;
  if (paths === undefined) return err(methodNotAllowed());
  const writer = createWriter(context, target, options.manager, "scale");
  let before: JsonObject = {};
  const change: ObjectChange = {
    name: target.name,
    subresource: "scale",
    keepsManagers: true,
    next: (live) => {
      before = live;
      return changeScale(target, paths, live, writer, step);
    },
  };
  const written = await changeObject(context, target, change, options);
  if (!written.ok) return written;
  const warnings = [...(target.warnings ?? []), ...listObjectWarnings(target, written.value, before)];
  return createScaleResponse(target, written.value.object, form, warnings);
}

function createTypeError({ kind, apiVersion }: JsonObject): Status | undefined {
  if (kind === "Scale" && apiVersion === "autoscaling/v1") return undefined;
  const [bodyKind = "", version = ""] = [kind, apiVersion].map((text) => (typeof text === "string" ? text : ""));
  const reason = `no kind "${bodyKind}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`;
  return badRequest(
    `${bodyKind} in version "${version.split("/").at(-1) ?? ""}" cannot be handled as a Scale: ${reason}`,
  );
}

function createBodyError(_sent: JsonObject, reason: string): Status {
  return badRequest(`Scale in version "v1" cannot be handled as a Scale: ${reason}`);
}
