import type { JsonObject } from "@oaas/kube-core";
import { metadataOf } from "../../admission/metadata.ts";
import type { Representation } from "../../request/body/media-types.ts";
import { StoredObject } from "../../store/stored-object.ts";
import type { ListedObjects } from "./list-objects.ts";
import type { EventText } from "./watch-objects.ts";
import { apiVersionOf, isBuiltIn, convertToVersion, objectText, type Target } from "../verb-context.ts";

/** Tables, which a client may request instead of objects. */
export interface TableRenderer {
  /**
   * `includeObject` as clients write it: None, Metadata (default) or Object; other values were rejected. Columns may be
   * omitted except in the first event of a watch.
   */
  table(request: {
    readonly target: Target;
    readonly objects: readonly JsonObject[];
    readonly metadata: JsonObject;
    readonly includeObject: string;
    readonly withColumns: boolean;
  }): JsonObject;
}

/** Lists of built-in kinds omit an empty token; those of custom kinds do not. */
function formatContinue({ continueToken }: ListedObjects, includesEmpty: boolean): { readonly continue?: string } {
  if (continueToken !== undefined) return { continue: continueToken };
  return includesEmpty ? { continue: "" } : {};
}

interface FormatRequest extends Target {
  readonly query: URLSearchParams;
}

const PARTIAL = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" };

/** Objects and lists in the requested form. */
export class Presenter {
  readonly #tables: TableRenderer;

  constructor(tables: TableRenderer) {
    this.#tables = tables;
  }

  formatObject(request: FormatRequest, object: StoredObject | JsonObject, { as }: Representation): string {
    if (as === undefined) {
      if (object instanceof StoredObject) return objectText(request, object, false);
      return JSON.stringify({
        kind: request.kind.kind,
        apiVersion: apiVersionOf(request),
        ...convertToVersion(request, object),
      });
    }
    const { metadata } = object instanceof StoredObject ? object.object : object;
    if (as !== "Table") return JSON.stringify({ ...PARTIAL, metadata });
    const { resourceVersion } = metadata as JsonObject;
    return this.#formatTable(request, [object], resourceVersion === undefined ? {} : { resourceVersion }, true);
  }

  formatList(request: FormatRequest, listed: ListedObjects, { as }: Representation): string {
    const metadata = {
      resourceVersion: String(listed.revision),
      ...formatContinue(listed, as === undefined && !isBuiltIn(request.kind)),
      ...(listed.remaining === undefined ? {} : { remainingItemCount: listed.remaining }),
    };
    if (as === "Table") {
      return this.#formatTable(request, listed.items, metadata, true);
    }
    const isPartial = as !== undefined;
    const items = listed.items.map((stored) =>
      isPartial
        ? JSON.stringify({ ...PARTIAL, metadata: metadataOf(stored.object) })
        : objectText(request, stored, true),
    );
    const kind = isPartial ? "PartialObjectMetadataList" : request.kind.listKind;
    const apiVersion = isPartial ? PARTIAL.apiVersion : apiVersionOf(request);
    const head = JSON.stringify({ kind, apiVersion, metadata }).slice(0, -1);
    return `${head},"items":[${items.join(",")}]}`;
  }

  /** How the objects of a watch are written; undefined for unchanged. */
  createEventFormatter(request: FormatRequest, { as }: Representation): EventText | undefined {
    if (as === undefined) return undefined;
    if (as !== "Table") {
      return ({ object }) => JSON.stringify({ ...PARTIAL, metadata: metadataOf(object) });
    }
    let isFirst = true;
    return (stored) => {
      const text = this.#formatTable(request, [stored], { resourceVersion: String(stored.revision) }, isFirst);
      isFirst = false;
      return text;
    };
  }

  #formatTable(
    request: FormatRequest,
    objects: readonly (StoredObject | JsonObject)[],
    metadata: JsonObject,
    withColumns: boolean,
  ): string {
    const includeObject = request.query.get("includeObject") ?? "";
    const converted = objects.map((object) => convertToVersion(request, object));
    return JSON.stringify(
      this.#tables.table({ target: request, objects: converted, metadata, includeObject, withColumns }),
    );
  }
}
