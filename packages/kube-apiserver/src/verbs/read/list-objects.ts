import { err, ok, type Result } from "@oaas/foundation";
import { isJsonObject, type Status } from "@oaas/kube-core";
import { createSelection, type ListOptions } from "../../request/query/list-options.ts";
import { parseJson } from "../../request/body/body.ts";
import { isGoInteger, formatNotInteger } from "../../request/query/options.ts";
import { badRequest, expired, tooLargeVersion } from "../../request/response/status-errors.ts";
import type { SortedObjects } from "../../store/sorted-objects.ts";
import type { StoredObject } from "../../store/stored-object.ts";
import { storeKindOf, type Target, type VerbContext } from "../verb-context.ts";

/** One page of a list, of one revision. */
export interface ListedObjects {
  readonly items: readonly StoredObject[];
  readonly revision: number;
  readonly continueToken?: string;
  readonly remaining?: number;
}

/** A snapshot of a kind at a revision, and the start position. */
interface ListSnapshot {
  readonly objects: SortedObjects;
  readonly revision: number;
  readonly start: string;
}

const TOO_OLD_TOKEN =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/** The requested objects, page by page of one snapshot. */
export function listObjects(context: VerbContext, target: Target, options: ListOptions): Result<ListedObjects, Status> {
  const prefix = target.namespace === "" ? "" : `${target.namespace}/`;
  const snapshot =
    options.continueToken === "" ? takeSnapshot(context, target, options) : continueSnapshot(context, target, options);
  if (!snapshot.ok) return snapshot;
  const { objects, revision, start } = snapshot.value;
  const isSelected = createSelection(target, options);
  const all = objects.withPrefix(prefix, start === "" ? prefix : start);
  const selected = isSelected === undefined ? all : all.filter(({ object }) => isSelected(object));
  if (options.limit === 0 || selected.length <= options.limit) return ok({ items: selected, revision });
  const items = selected.slice(0, options.limit);
  const last = items.at(-1)?.key ?? "";
  return ok({
    items,
    revision,
    continueToken: encodeToken(revision, `${last.slice(target.namespace.length)}\0`),
    ...(isSelected === undefined ? { remaining: selected.length - items.length } : {}),
  });
}

function takeSnapshot({ store }: VerbContext, { kind }: Target, options: ListOptions): Result<ListSnapshot, Status> {
  const name = storeKindOf(kind);
  const current: ListSnapshot = { objects: store.objects(name), revision: store.revision, start: "" };
  const requested = parseVersion(options.resourceVersion);
  if (!requested.ok) return requested;
  if (requested.value > store.revision) return err(tooLargeVersion(options.resourceVersion, store.revision));
  const isExact = options.match === "Exact" || (options.match === "" && options.limit > 0 && requested.value > 0);
  if (!isExact) return ok(current);
  const objects = store.asOf(name, requested.value);
  if (objects === undefined) return err(expired("The resourceVersion for the provided list is too old."));
  return ok({ objects, revision: requested.value, start: "" });
}

function continueSnapshot(
  { store }: VerbContext,
  { kind, namespace }: Target,
  options: ListOptions,
): Result<ListSnapshot, Status> {
  const { resourceVersion, continueToken } = options;
  if (resourceVersion !== "" && resourceVersion !== "0") {
    return err(badRequest("specifying resource version is not allowed when using continue"));
  }
  const token = decodeToken(continueToken);
  if (!token.ok) return err(badRequest(`invalid continue token: ${token.error}`));
  const { revision, start } = token.value;
  const name = storeKindOf(kind);
  const from = namespace + start;
  if (revision < 0) return ok({ objects: store.objects(name), revision: store.revision, start: from });
  const objects = store.asOf(name, revision);
  if (objects !== undefined) return ok({ objects, revision, start: from });
  return err({ ...expired(TOO_OLD_TOKEN), metadata: { continue: encodeToken(-1, start) } } as Status);
}

/** Parses a version; 0 for none. */
export function parseVersion(text: string): Result<number, Status> {
  if (text === "" || text === "0") return ok(0);
  if (isGoInteger(text) && !text.startsWith("-")) return ok(Number(text));
  const reason = `Invalid value: ${JSON.stringify(text)}: ${formatNotInteger("ParseUint", text)}`;
  return err(badRequest(`invalid resource version: resourceVersion: ${reason}`));
}

function encodeToken(revision: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start })).toString("base64url");
}

function decodeToken(text: string): Result<{ readonly revision: number; readonly start: string }, string> {
  const invalidIndex = text.search(/[^A-Za-z0-9_-]/);
  const isTruncated = text.length % 4 === 1;
  if (invalidIndex >= 0 || isTruncated) {
    const at = invalidIndex >= 0 ? invalidIndex : text.length - 1;
    return err(`continue key is not valid: illegal base64 data at input byte ${at}`);
  }
  const parsed = parseJson(Buffer.from(text, "base64url").toString("latin1"));
  if (!parsed.ok) return err(`continue key is not valid: ${parsed.error.message}`);
  const { v = "", rv, start } = isJsonObject(parsed.value) ? parsed.value : {};
  if (v !== "meta.k8s.io/v1")
    return err(
      `continue key is not valid: server does not recognize this encoded version ${typeof v === "string" ? v : ""}`,
    );
  if (typeof rv !== "number" || rv === 0)
    return err("continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  if (typeof start !== "string" || start === "")
    return err("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
  return ok({ revision: rv, start });
}
