import type { Clock } from "@oaas/foundation";
import type { JsonObject } from "@oaas/kube-core";
import { metadataOf } from "../../admission/metadata.ts";
import type { TableRenderer } from "./presenter.ts";

const META = { apiVersion: "meta.k8s.io/v1" };

/** Builds tables from the columns of kinds. */
export function columnTables(clock: Clock): TableRenderer {
  return {
    table: ({ target, objects, metadata, includeObject, withColumns }) => {
      const { columns } = target.version;
      const now = clock.now();
      return {
        kind: "Table",
        ...META,
        metadata,
        columnDefinitions: withColumns
          ? columns.map(({ name, type, format, description, priority }) => ({
              name,
              type,
              format,
              description,
              priority,
            }))
          : null,
        rows: objects.map((object) => ({
          cells: columns.map((column) => column.cell(object, now)),
          ...(includeObject === "None" ? {} : { object: rowObject(object, includeObject) }),
        })),
      };
    },
  };
}

function rowObject(object: JsonObject, includeObject: string): JsonObject {
  if (includeObject === "Object") return object;
  return { kind: "PartialObjectMetadata", ...META, metadata: metadataOf(object) };
}
