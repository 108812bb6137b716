import type { Result } from "@oaas/foundation";
import type { JsonObject, Status } from "@oaas/kube-core";
import { metadataOf } from "../admission/metadata.ts";
import type { ApiRequest, ApiResponse } from "../api.ts";
import type { ObjectChange } from "./change-object.ts";
import type { Target } from "./world.ts";

/** A request about objects of a kind, as far as its path and query say. */
export interface ResourceRequest extends Target {
  readonly request: ApiRequest;
  readonly query: URLSearchParams;
  readonly name?: string;
  readonly subresource?: string;
  readonly isOldWatch: boolean;
  /** Told to the client whatever becomes of the request. */
  readonly warnings?: string[];
}

/** One about a single object. */
export type NamedRequest = ResourceRequest & { readonly name: string };

/** What a verb gives back: an answer, or the refusal it becomes. */
export type Answered = Result<ApiResponse, Status>;

/** What is allowed but odd in what was written: told of a new object, and of each generation. */
export function oddities(
  { kind, subresource }: ResourceRequest,
  { object, isNew }: { readonly object: JsonObject; readonly isNew: boolean },
  before: JsonObject,
): readonly string[] {
  if (subresource === "status") return [];
  const isSame = metadataOf(object)["generation"] === metadataOf(before)["generation"];
  return isSame && !isNew ? [] : kind.rules.warnings(object, isNew);
}

/** What a change is made to. */
export function placeOf({
  name,
  subresource,
}: {
  readonly name: string;
  readonly subresource?: string;
}): Pick<ObjectChange, "name" | "subresource"> {
  return { name, ...(subresource === undefined ? {} : { subresource }) };
}
