import type { JsonObject } from "@oaas/kube-core";
import data from "../gen/kinds.json" with { type: "json" };

/** What a script has read of the built-in kinds from the real server (`npm run kindgen`); prose is left out. */
export interface KindData {
  /** The server's own, as `v1.36.3`. */
  readonly version: string;
  /** Groups in the order of `/apis`. */
  readonly groups: readonly string[];
  readonly resources: readonly ResourceData[];
  /** OpenAPI v3 by the name of the type. */
  readonly schemas: Readonly<Record<string, JsonObject>>;
  /** What OpenAPI does not say: how Go writes a field, by type and field. */
  readonly goMarks: Readonly<Record<string, Readonly<Record<string, GoMark>>>>;
  /** What texts of a type of their own are called in Go, as refusals name them. */
  readonly goNames: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/**
 * `keep`: a zero that was given is written (a pointer); `null`: written as null when absent; `drop`: a struct that vanishes when it is empty;
 * `value`: a struct that writes itself, such as a time; `omit`: left out when zero, whatever OpenAPI's default says.
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
  /** Only when it is of another group or version than its resource. */
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

/** The data of the committed file. */
export const KIND_DATA = data as unknown as KindData;
