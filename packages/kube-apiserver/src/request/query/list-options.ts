import { err, ok, type Result } from "@oaas/foundation";
import {
  type FieldRequirements,
  type JsonObject,
  type LabelRequirements,
  type Labels,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  type Status,
} from "@oaas/kube-core";
import type { FieldError } from "../../schema/field-error.ts";
import { metadataText } from "../../admission/metadata.ts";
import type { Kind } from "../../kinds/kind.ts";
import type { Target } from "../../verbs/verb-context.ts";
import { isBuiltIn } from "../../verbs/verb-context.ts";
import { findSelectorError } from "./go-selector.ts";
import { isGoInteger, formatNotInteger } from "./options.ts";
import { badRequest, invalidOptions } from "../response/status-errors.ts";

/** Selection, version and page of a list. */
export interface ListOptions {
  readonly labels: LabelRequirements;
  readonly fields: FieldRequirements;
  /** 0 for all. */
  readonly limit: number;
  readonly continueToken: string;
  readonly resourceVersion: string;
  readonly match: "" | "Exact" | "NotOlderThan";
  readonly isWatch: boolean;
  readonly timeoutSeconds?: number;
  readonly wantsBookmarks: boolean;
  readonly sendsInitialEvents?: boolean;
}

const MATCHES: readonly string[] = ["Exact", "NotOlderThan", ""];

/** Parses the options of a list or a watch. */
export function parseListOptions(
  target: Target,
  query: URLSearchParams,
  isOldWatch: boolean,
): Result<ListOptions, Status> {
  const limit = query.get("limit") ?? "";
  const timeout = query.get("timeoutSeconds") ?? "";
  const invalid = [limit, timeout].find((text) => text !== "" && !isGoInteger(text));
  if (invalid !== undefined) return err(badRequest(formatNotInteger("ParseInt", invalid)));
  const labels = parseLabelSelector(query.get("labelSelector") ?? "");
  if (!labels.ok) {
    return err(badRequest(findSelectorError(query.get("labelSelector") ?? "") ?? labels.error.message));
  }
  const fields = parseSelectedFields(target, query.get("fieldSelector") ?? "");
  if (!fields.ok) return fields;
  const initial = query.get("sendInitialEvents");
  const options: ListOptions = {
    labels: labels.value,
    fields: fields.value,
    limit: Math.max(0, Number(limit)),
    continueToken: query.get("continue") ?? "",
    resourceVersion: query.get("resourceVersion") ?? "",
    match: (query.get("resourceVersionMatch") ?? "") as ListOptions["match"],
    isWatch: isOldWatch || isTrue(query.get("watch")),
    wantsBookmarks: isTrue(query.get("allowWatchBookmarks")),
    ...(timeout === "" ? {} : { timeoutSeconds: Number(timeout) }),
    ...(initial === null ? {} : { sendsInitialEvents: isTrue(initial) }),
  };
  const errors = validateOptions(options);
  return errors.length > 0 ? err(invalidOptions("ListOptions", errors)) : ok(options);
}

/** Go's conversion of query booleans: anything else is true. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== "false" && value !== "0";
}

function parseSelectedFields({ kind, version }: Target, text: string): Result<FieldRequirements, Status> {
  const parsed = parseFieldSelector(text);
  if (!parsed.ok) {
    // A missing name is an unknown name.
    if (/^(?:=|==|!=)/.test(text)) return err(badRequest(formatUnknownField("")));
    return err(badRequest(`invalid selector: '${text}'; can't understand '${text}'`));
  }
  const selectable = new Set([
    "metadata.name",
    ...(kind.isNamespaced || isBuiltIn(kind) ? ["metadata.namespace"] : []),
    ...version.selectableFields,
  ]);
  const unknown = parsed.value.find(({ field }) => !selectable.has(field));
  if (unknown === undefined) return parsed;
  const { field } = unknown;
  if (!isBuiltIn(kind) || version.selectableFields.length > 0)
    return err(badRequest(`field label not supported: ${field}`));
  return err(badRequest(formatUnknownField(field)));
}

function formatUnknownField(field: string): string {
  return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

function validateOptions({
  match,
  resourceVersion,
  sendsInitialEvents,
  isWatch,
  continueToken,
}: ListOptions): readonly FieldError[] {
  const forbid = (reason: string, field = "resourceVersionMatch"): FieldError => ({
    reason: "FieldValueForbidden",
    field,
    message: `Forbidden: ${reason}`,
  });
  if (isWatch) {
    if (sendsInitialEvents !== undefined && match !== "NotOlderThan") {
      return [forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")];
    }
    if (sendsInitialEvents === undefined && match !== "") {
      return [forbid("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")];
    }
    return [];
  }
  if (sendsInitialEvents !== undefined) return [forbid("sendInitialEvents is forbidden for list", "sendInitialEvents")];
  if (match === "") return [];
  if (resourceVersion === "") return [forbid("resourceVersionMatch is forbidden unless resourceVersion is provided")];
  if (continueToken !== "") return [forbid("resourceVersionMatch is forbidden when continue is provided")];
  if (!MATCHES.includes(match)) {
    const choices = MATCHES.map((choice) => JSON.stringify(choice)).join(", ");
    const message = `Unsupported value: ${JSON.stringify(match)}: supported values: ${choices}`;
    return [{ reason: "FieldValueNotSupported", field: "resourceVersionMatch", message }];
  }
  if (match === "Exact" && resourceVersion === "0") {
    return [forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')];
  }
  return [];
}

/** A predicate for the selected objects; undefined when all are selected. */
export function createSelection(
  { kind }: Target,
  { labels, fields }: Pick<ListOptions, "labels" | "fields">,
): ((object: JsonObject) => boolean) | undefined {
  if (labels.length === 0 && fields.length === 0) return undefined;
  return (object) => {
    const { labels: objectLabels = {} } = object["metadata"] as { readonly labels?: Labels };
    return (
      matchesLabels(labels, objectLabels) &&
      fields.every(
        ({ field, operator, value }) => (getSelectedText(kind, object, field) === value) === (operator === "="),
      )
    );
  };
}

/** Names are selectable in all kinds; other fields by kind. */
function getSelectedText(kind: Kind, object: JsonObject, field: string): string {
  if (field === "metadata.name") return metadataText(object, "name");
  return field === "metadata.namespace" ? metadataText(object, "namespace") : kind.rules.selectableText(object, field);
}
