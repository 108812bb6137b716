import type { JsonObject } from "@oaas/kube-core";
import data from "../../gen/kinds.json" with { type: "json" };

/** Data about the built-in kinds, recorded from the real server (`npm run kindgen`), without descriptions. */
export interface KindData {
  /** The server's version, such as `v1.36.3`. */
  readonly version: string;
  /** Groups in the order of `/apis`. */
  readonly groups: readonly string[];
  readonly resources: readonly ResourceData[];
  /** OpenAPI v3 by type name. */
  readonly schemas: Readonly<Record<string, JsonObject>>;
  /** How Go encodes a field, by type and field, where OpenAPI does not define it. */
  readonly goMarks: Readonly<Record<string, Readonly<Record<string, GoMark>>>>;
  /** Go names of named string types, for error messages. */
  readonly goNames: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/**
 * `keep`: a given zero is written (a pointer); `null`: written as null when absent; `drop`: an empty struct is omitted;
 * `value`: a struct with custom encoding, such as a time; `omit`: omitted when zero, regardless of the OpenAPI default.
 */
export type GoMark = "keep" | "null" | "drop" | "value" | "omit";

export interface ResourceData {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
  /** Name of its schema. */
  readonly schema: string;
  readonly listSchema?: string;
  readonly subresources: readonly SubresourceData[];
}

export interface SubresourceData {
  readonly name: string;
  readonly kind: string;
  /** Only if its group or version differs from its resource. */
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

/** The committed data file. */
export const KIND_DATA = data as unknown as KindData;
