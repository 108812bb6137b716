import type { Violation } from "@oaas/foundation";
import { pathOf, ROOT_PATH } from "@oaas/foundation";
import { z } from "zod";
import { entries, field, input, optional, view } from "../../reading/fields.ts";

/** Bytes of all entries of an object. State stores take messages of 4 MiB; the rest is for keys and framing. */
export const OBJECT_BYTES = 3 * 1024 * 1024;
/** Base64 is a third longer. */
const BASE64_CHARACTERS = Math.ceil((OBJECT_BYTES * 4) / 3) + 4;
const MAX_ENTRIES = 10_000;

/** How an entry is merged by stores that replicate without consensus. */
export const ENTRY_TYPES = ["byte", "crdt-map"] as const;

const FORMS = ["json", "text", "base64"] as const;

/** A collection of a deployment. */
export const stateCollectionView = view({
  name: field("Collection name.", z.string()),
  partition_count: field("Number of partitions; they are numbered from 0.", z.int()),
  replica_count: field("Copies of each object.", z.int()),
  shard_type: field(
    "`raft`, `mst`, `basic`, `single` or `none`; null where the cluster decides.",
    z.string().nullable(),
  ),
  clusters: field("Clusters that hold partitions.", z.array(z.string())),
});

/** An object in a list. */
export const stateObjectSummaryView = view({
  collection: field("Collection name.", z.string()),
  partition: field("Partition number.", z.int()),
  id: field("Object id.", z.string()),
  version: field("Grows with each write; restarts when the object is copied.", z.int()),
  entry_count: field("Number of entries.", z.int()),
});

/** One entry of an object in a response. */
export const stateEntryView = view({
  json: field("The value, when its bytes are JSON in compact form.", z.unknown().optional()),
  text: field("The value, when its bytes are other UTF-8 text without control characters.", z.string().optional()),
  base64: field("The value in base64, when it is neither.", z.string().optional()),
  type: field("`crdt-map`; absent for bytes.", z.enum(ENTRY_TYPES).optional()),
});

/** An object with its entries. */
export const stateObjectView = view({
  collection: field("Collection name.", z.string()),
  partition: field("Partition number.", z.int()),
  id: field("Object id.", z.string()),
  version: field("The entries are of this version, or newer.", z.int()),
  cluster: field("Cluster that answered.", z.string()),
  entries: field("The entries by key, in the form that a request has.", z.record(z.string(), stateEntryView)),
});

/** The object that was written or deleted. */
export const stateObjectWriteView = view({
  collection: field("Collection name.", z.string()),
  partition: field("Partition number.", z.int()),
  id: field("Object id.", z.string()),
  cluster: field("Cluster that acknowledged the write.", z.string()),
});

/** One entry of an object in a request. */
export const stateEntryInput = input(
  {
    json: field("The value as JSON; stored in compact form.", z.unknown().optional()),
    text: field("The value as text; stored in UTF-8.", optional(z.string().max(OBJECT_BYTES))),
    base64: field("The value in base64.", optional(z.string().max(BASE64_CHARACTERS))),
    type: field("`byte` or `crdt-map`. Default: `byte`.", optional(z.enum(ENTRY_TYPES))),
  },
  checkEntry,
);

/** The object to write. */
export const stateObjectInput = input(
  {
    entries: field(
      "All entries by key; each with one of `json`, `text` and `base64`.",
      entries(stateEntryInput, MAX_ENTRIES),
    ),
  },
  checkKeys,
);

function checkEntry(members: Readonly<Record<string, unknown>>): readonly Violation[] {
  const { base64 } = members;
  // `json: null` is a value; a null in another form is absent.
  const stated = FORMS.filter((form) => members[form] !== undefined && (form === "json" || members[form] !== null));
  const isBase64 = typeof base64 !== "string" || isCanonicalBase64(base64);
  return [
    ...(stated.length === 1
      ? []
      : [
          {
            path: ROOT_PATH,
            message: stated.length === 0 ? "has no value" : `has ${stated.join(" and ")}`,
            fix: "set one of json, text and base64",
          },
        ]),
    ...(isBase64 ? [] : [{ path: pathOf(ROOT_PATH, "base64"), message: "is not base64", fix: "encode it in base64" }]),
  ];
}

/** Canonical, so that what is written is what is read back. */
function isCanonicalBase64(text: string): boolean {
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);
}

function checkKeys(members: Readonly<Record<string, unknown>>): readonly Violation[] {
  const { entries: map } = members;
  if (typeof map !== "object" || map === null || !Object.hasOwn(map, "")) return [];
  return [{ path: pathOf(ROOT_PATH, "entries"), message: "has an empty key", fix: "name each entry" }];
}
