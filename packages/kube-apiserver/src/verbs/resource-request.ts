import type { Result } from "@oaas/foundation";
import type { JsonObject, Status } from "@oaas/kube-core";
import { metadataOf } from "../admission/metadata.ts";
import type { ApiRequest, ApiResponse } from "../api.ts";
import type { ObjectChange } from "./change/change-object.ts";
import type { Target } from "./verb-context.ts";

/** A request about objects of a kind, from its path and query. */
export interface ResourceRequest extends Target {
  readonly request: ApiRequest;
  readonly query: URLSearchParams;
  readonly name?: string;
  readonly subresource?: string;
  readonly isOldWatch: boolean;
  /** Warnings, sent with any response. */
  readonly warnings?: string[];
}

/** A request about a single object. */
export type NamedRequest = ResourceRequest & { readonly name: string };

/** The result of a verb: a response or a rejection. */
export type VerbResult = Result<ApiResponse, Status>;

/** Warnings about an object: for a new object, and for each generation. */
export function listObjectWarnings(
  { kind, subresource }: ResourceRequest,
  { object, isNew }: { readonly object: JsonObject; readonly isNew: boolean },
  before: JsonObject,
): readonly string[] {
  if (subresource === "status") return [];
  const isSame = metadataOf(object)["generation"] === metadataOf(before)["generation"];
  return isSame && !isNew ? [] : kind.rules.warnings(object, isNew);
}

/** The target of a change. */
export function getChangeTarget({
  name,
  subresource,
}: {
  readonly name: string;
  readonly subresource?: string;
}): Pick<ObjectChange, "name" | "subresource"> {
  return { name, ...(subresource === undefined ? {} : { subresource }) };
}
