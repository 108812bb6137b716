import { err, ok, type Result } from "@oaas/foundation";
import type { JsonObject, JsonValue, Status } from "@oaas/kube-core";
import { jsonResponse } from "../../request/response/responses.ts";
import { decodeObject } from "../../request/body/body.ts";
import type { Representation } from "../../request/body/media-types.ts";
import type { FieldValidation, WriteOptions } from "../../request/query/options.ts";
import { badRequest, methodNotAllowed } from "../../request/response/status-errors.ts";
import { changeObject, type ObjectChange } from "../change/change-object.ts";
import { nameMismatch } from "../change/change-errors.ts";
import { writerOf } from "../change/new-object.ts";
import { applyPatch, invalidPatchResult, type PatchType } from "../change/patch-object.ts";
import { objectWarnings, type VerbResult, type NamedRequest } from "../resource-request.ts";
import { readScale, applyScale, changeScale, scaleOf, unknownScaleFields, type ScaleChange } from "./scale.ts";
import { convertToVersion, type VerbContext } from "../verb-context.ts";

/** The Scale of an object, as shown. */
export function scaleResponse(
  asked: NamedRequest,
  object: JsonObject,
  form: Representation,
  warnings: readonly string[] = [],
): VerbResult {
  const paths = asked.version.scale;
  if (paths === undefined) return err(methodNotAllowed());
  const scale = scaleOf(asked, paths, convertToVersion(asked, object));
  return scale.ok ? ok(jsonResponse(200, JSON.stringify(scale.value), form, warnings)) : scale;
}

/** Replaces the Scale of an object. */
export async function updateScale(
  context: VerbContext,
  asked: NamedRequest,
  options: WriteOptions,
  form: Representation,
): Promise<VerbResult> {
  const body = decodeObject(asked.request.body, asked.request.headers["content-type"], "Scale");
  if (!body.ok) return body;
  const read = scaleIn(asked, body.value.object, options.fieldValidation, bodyRefusal);
  if (!read.ok) return read;
  const refusal = nameMismatch(read.value, asked.name);
  if (refusal !== undefined) return err(refusal);
  return writeScale(context, asked, { next: () => read, isApply: false }, options, form);
}

/** Patches or applies the Scale of an object. */
export async function patchScale(
  context: VerbContext,
  asked: NamedRequest,
  { type, patch }: { readonly type: PatchType; readonly patch: JsonValue },
  options: WriteOptions,
  form: Representation,
): Promise<VerbResult> {
  if (type === "apply") {
    const writer = writerOf(context, asked, options.manager, "scale");
    const next = applyScale(asked, patch as JsonObject, writer, options.isForced);
    return writeScale(context, asked, { next, isApply: true }, options, form);
  }
  const next: ScaleChange = (scale) => {
    const result = applyPatch(type, patch, scale, {});
    return result.ok ? scaleIn(asked, result.value, options.fieldValidation, invalidPatchResult) : result;
  };
  return writeScale(context, asked, { next, isApply: false }, options, form);
}

/** Decodes a Scale from a body or a patch; `refused` says why it is invalid. */
function scaleIn(
  asked: NamedRequest,
  sent: JsonObject,
  validation: FieldValidation,
  refused: (sent: JsonObject, why: string) => Status,
): Result<JsonObject, Status> {
  const { kind = "Scale", apiVersion = "autoscaling/v1" } = sent;
  const typed = { ...sent, kind, apiVersion };
  const type = typeRefusal(typed);
  if (type !== undefined) return err(type);
  const unknown = validation === "Ignore" ? [] : unknownScaleFields(typed).map((path) => `unknown field "${path}"`);
  if (validation === "Warn") asked.warnings?.push(...unknown);
  const read = readScale(typed);
  if (!read.ok) return err(refused(typed, read.error));
  if (validation !== "Strict" || unknown.length === 0) return read;
  return err(refused(typed, `strict decoding error: ${unknown.join(", ")}`));
}

async function writeScale(
  context: VerbContext,
  asked: NamedRequest,
  step: { readonly next: ScaleChange; readonly isApply: boolean },
  options: WriteOptions,
  form: Representation,
): Promise<VerbResult> {
  const paths = asked.version.scale;
  if (paths === undefined) return err(methodNotAllowed());
  const writer = writerOf(context, asked, options.manager, "scale");
  let before: JsonObject = {};
  const change: ObjectChange = {
    name: asked.name,
    subresource: "scale",
    keepsManagers: true,
    next: (live) => {
      before = live;
      return changeScale(asked, paths, live, writer, step);
    },
  };
  const written = await changeObject(context, asked, change, options);
  if (!written.ok) return written;
  const warnings = [...(asked.warnings ?? []), ...objectWarnings(asked, written.value, before)];
  return scaleResponse(asked, written.value.object, form, warnings);
}

function typeRefusal({ kind, apiVersion }: JsonObject): Status | undefined {
  if (kind === "Scale" && apiVersion === "autoscaling/v1") return undefined;
  const [said = "", version = ""] = [kind, apiVersion].map((text) => (typeof text === "string" ? text : ""));
  const why = `no kind "${said}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`;
  return badRequest(`${said} in version "${version.split("/").at(-1) ?? ""}" cannot be handled as a Scale: ${why}`);
}

function bodyRefusal(_sent: JsonObject, why: string): Status {
  return badRequest(`Scale in version "v1" cannot be handled as a Scale: ${why}`);
}
