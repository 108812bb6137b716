import { err, ok, type Result } from "@oaas/foundation";
import { isJsonObject, type JsonObject } from "@oaas/kube-core";
import { goType } from "./go-types.ts";

/**
 * A body as Go's types hold it and write it again: without unknown fields, nulls, and the zeros and empty lists that are left out; with what is always written;
 * quantities, times and base64 in one form. Err: the decoder's words for the first value of a wrong type.
 */
export function goDecoded(object: JsonObject, openApiName: string): Result<JsonObject, string> {
  const refusal: { text?: string } = {};
  const value = goType(openApiName).read(object, { struct: "", path: "", refusal });
  if (refusal.text !== undefined) return err(refusal.text);
  return ok(isJsonObject(value) ? value : {});
}
