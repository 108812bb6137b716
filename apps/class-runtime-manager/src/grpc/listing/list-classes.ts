import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListClassRuntimesRequest, ListClassRuntimesResponseSchema } from "@oaas/contracts/grpc";
import { invalidArgument } from "@oaas/foundation";
import { formatObjectKey, keyOf, parseObjectKey, type ObjectKey } from "@oaas/kube-core";
import { compareText } from "../../lifecycle/observation/observed-objects.ts";
import { classRuntimeToSummary } from "../../mapping/status/class-runtime-to-wire.ts";
import type { ChangeLog } from "./change-log.ts";
import { listFilter } from "./class-filter.ts";
import type { NamespaceRules } from "../access/namespaces.ts";
import type { ClassDirectory, StoredClass } from "../../classes/ports.ts";

/**
 * One page of the class runtimes that match, by namespace and name. A page token is the last key of the page before, so that what comes and
 * goes in between neither repeats nor hides anything else.
 */
export function listClasses(
  request: ListClassRuntimesRequest,
  deps: { readonly directory: ClassDirectory; readonly namespaces: NamespaceRules; readonly log: ChangeLog },
): MessageInitShape<typeof ListClassRuntimesResponseSchema> {
  const matches = sorted([...deps.directory.list()].filter(listFilter(request, deps.namespaces)));
  const start = startOf(request, matches);
  const limit = request.limit === undefined || request.limit === 0 ? Infinity : request.limit;
  const page = matches.slice(start, start + limit);
  const last = page.at(-1);
  const isWhole = start + page.length >= matches.length;
  return {
    items: page.map(classRuntimeToSummary),
    nextPageToken: isWhole || last === undefined ? "" : pageToken(placeOf(last)),
    totalCount: matches.length,
    resumeToken: deps.log.token(deps.log.head),
  };
}

/** In the order of lists and snapshots. */
export function sorted(objects: readonly StoredClass[]): readonly StoredClass[] {
  return objects.toSorted((a, b) => comparePlaces(placeOf(a), placeOf(b)));
}

function startOf({ pageToken: token, offset }: ListClassRuntimesRequest, matches: readonly StoredClass[]): number {
  if (token === undefined || token === "") return offset ?? 0;
  const after = placeOfToken(token);
  const start = matches.findIndex((one) => comparePlaces(placeOf(one), after) > 0);
  return start === -1 ? matches.length : start;
}

/** Where an object stands in the order; a record may bear the name of a class runtime and comes after it. */
interface Place extends ObjectKey {
  readonly isRecord: boolean;
}

function placeOf(object: StoredClass): Place {
  return { ...keyOf(object), isRecord: object.writtenAs !== undefined };
}

function comparePlaces(a: Place, b: Place): number {
  return (
    compareText(a.namespace, b.namespace) || compareText(a.name, b.name) || Number(a.isRecord) - Number(b.isRecord)
  );
}

function pageToken(place: Place): string {
  return `${place.isRecord ? "v1r" : "v1"}:${formatObjectKey(place)}`;
}

function placeOfToken(token: string): Place {
  const [, kind, text = ""] = /^(v1r?):(.*)$/s.exec(token) ?? [];
  const parsed = kind === undefined ? undefined : parseObjectKey(text);
  if (parsed?.ok !== true) {
    throw invalidArgument("the request", [
      { path: "$.page_token", message: "is none of ours", fix: "send next_page_token of the page before, unchanged" },
    ]);
  }
  return { ...parsed.value, isRecord: kind === "v1r" };
}
