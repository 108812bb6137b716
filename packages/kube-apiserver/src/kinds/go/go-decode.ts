import { err, ok, type Result } from "@oaas/foundation";
import { isJsonObject, type JsonObject } from "@oaas/kube-core";
import { goType } from "./go-types.ts";

/**
 * Decodes a body as Go's types do and encodes it again: unknown fields, nulls, and omitted zeros and empty lists are
 * dropped; always-written fields are added; quantities, times and base64 are normalized. Err: the decoder's message for
 * the first value of a wrong type.
 */
export function goDecoded(object: JsonObject, openApiName: string): Result<JsonObject, string> {
  const refusal: { text?: string } = {};
  const value = goType(openApiName).read(object, { struct: "", path: "", refusal });
  if (refusal.text !== undefined) return err(refusal.text);
  return ok(isJsonObject(value) ? value : {});
}
