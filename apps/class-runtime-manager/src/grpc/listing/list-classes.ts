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
 * Returns one page of the matching class runtimes, sorted by namespace and name. A page token is the last key of the
 * previous page, so that objects created or deleted meanwhile neither repeat nor hide others.
 */
export function listClasses(
  request: ListClassRuntimesRequest,
  deps: { readonly directory: ClassDirectory; readonly namespaces: NamespaceRules; readonly log: ChangeLog },
): MessageInitShape<typeof ListClassRuntimesResponseSchema> {
  const matches = sortClasses([...deps.directory.list()].filter(listFilter(request, deps.namespaces)));
  const start = startIndex(request, matches);
  const limit = request.limit === undefined || request.limit === 0 ? Infinity : request.limit;
  const page = matches.slice(start, start + limit);
  const last = page.at(-1);
  const isLastPage = start + page.length >= matches.length;
  return {
    items: page.map(classRuntimeToSummary),
    nextPageToken: isLastPage || last === undefined ? "" : pageToken(positionOf(last)),
    totalCount: matches.length,
    resumeToken: deps.log.token(deps.log.head),
  };
}

/** Sorts in the order of lists and snapshots. */
export function sortClasses(objects: readonly StoredClass[]): readonly StoredClass[] {
  return objects.toSorted((a, b) => comparePositions(positionOf(a), positionOf(b)));
}

function startIndex({ pageToken: token, offset }: ListClassRuntimesRequest, matches: readonly StoredClass[]): number {
  if (token === undefined || token === "") return offset ?? 0;
  const after = positionOfToken(token);
  const start = matches.findIndex((one) => comparePositions(positionOf(one), after) > 0);
  return start === -1 ? matches.length : start;
}

/** The sort position of an object. A record may have the name of a class runtime and follows it. */
interface ListPosition extends ObjectKey {
  readonly isRecord: boolean;
}

function positionOf(object: StoredClass): ListPosition {
  return { ...keyOf(object), isRecord: object.storedAs !== undefined };
}

function comparePositions(a: ListPosition, b: ListPosition): number {
  return (
    compareText(a.namespace, b.namespace) || compareText(a.name, b.name) || Number(a.isRecord) - Number(b.isRecord)
  );
}

function pageToken(place: ListPosition): string {
  return `${place.isRecord ? "v1r" : "v1"}:${formatObjectKey(place)}`;
}

function positionOfToken(token: string): ListPosition {
  const [, kind, text = ""] = /^(v1r?):(.*)$/s.exec(token) ?? [];
  const parsed = kind === undefined ? undefined : parseObjectKey(text);
  if (parsed?.ok !== true) {
    throw invalidArgument("the request", [
      {
        path: "$.page_token",
        message: "is not a page token of this service",
        fix: "send next_page_token of the previous page unchanged",
      },
    ]);
  }
  return { ...parsed.value, isRecord: kind === "v1r" };
}
