import type { Violation } from "@oaas/foundation";
import { CLUSTER_NAME, COUNT_RANGE, type ClusterName, type WholeRange } from "@oaas/models";
import { z } from "zod";
import { textOf, wholeNumber } from "./fields.ts";

/**
 * Query parameters arrive as text, or as a list of texts when repeated; these read them as what they mean.
 *
 * An empty one is no number, no switch and no order, and is refused; as text or list it is an absent one.
 */

/** A whole number in a query. */
export function queryWhole(range: WholeRange) {
  const digits = (value: unknown): unknown =>
    typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return z.preprocess(digits, wholeNumber(range).optional());
}

/** A switch in a query: true or false. A name without a value is wrong, as it may be a slip, and one of them deletes. */
export function queryFlag() {
  const read = (value: unknown): unknown => (value === "true" ? true : value === "false" ? false : value);
  return z.preprocess(read, z.boolean().optional());
}

/** A list in a query: repeated, or separated by commas. */
export function queryList() {
  const read = (value: unknown): unknown =>
    typeof value === "string" ? value.split(",").filter((item) => item !== "") : value;
  return z.preprocess(read, z.array(z.string()).optional());
}

/** Text in a query; empty is absent. */
export function queryText() {
  return z.preprocess((value) => (value === "" ? undefined : value), z.string().optional());
}

/** The parameters that every list has: the seeds' `limit` and `offset`, and a cursor beside them. */
export const pageQuery = {
  limit: queryWhole(COUNT_RANGE),
  offset: queryWhole(COUNT_RANGE),
  page_token: queryText(),
};

/** A cluster under either of its two names. Empty is wrong, not absent: what is meant for one cluster must not reach all. */
export const clusterQuery = {
  cluster: textOf<ClusterName>(CLUSTER_NAME).optional(),
  env: textOf<ClusterName>(CLUSTER_NAME).optional(),
};

/** Refuses `cluster` and `env` that name two clusters. */
export function clusterQueryContradiction(members: Readonly<Record<string, unknown>>): readonly Violation[] {
  const { cluster, env } = members as { readonly cluster?: unknown; readonly env?: unknown };
  if (cluster === undefined || env === undefined || cluster === env) return [];
  return [{ path: "$.env", message: "names another cluster than `cluster`", fix: "give one of the two" }];
}

/** The sort orders of a list; a minus turns the order round. */
export function querySort<const Field extends string>(fields: readonly Field[]) {
  const orders = fields.flatMap((field) => [field, `-${field}` as const]);
  return z.enum(orders).optional();
}
