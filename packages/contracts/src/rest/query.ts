import type { Violation } from "@oaas/foundation";
import { CLUSTER_NAME, COUNT_RANGE, type ClusterName, type Objection, type WholeRange } from "@oaas/models";
import { z } from "zod";
import { shown } from "./violations.ts";
import { input, textOf, wholeNumber, type Meanings, type Rules } from "./fields.ts";

/**
 * Query parameters arrive as text, or as a list of texts when repeated; these read them as what they mean.
 *
 * An empty one is no number, no switch and no order, and is refused; as text or list it is an absent one.
 */

/** Items of a page when no number is given, and the most that one has. */
export const PAGE_LIMITS = { usual: 100, most: 1000 } as const;

/** What each parameter means; one name means the same on every route. */
const QUERY_PARAMETERS = {
  apply_deployments: "Also schedules the deployments inside the package.",
  cascade: "Deletes its deployments first.",
  class_key: "Only of this class.",
  cluster: "Only this cluster.",
  condition: "Only in this condition.",
  disabled: "Only those that are, or are not, disabled.",
  dry_run: "Judges the document and says what would change; nothing is written.",
  env: "The same as `cluster`.",
  environment: "Only in this environment: the cluster, the target environment or the namespace.",
  filter: "Only keys that contain this.",
  from: "The earlier revision.",
  key: "Only of this key.",
  limit: `Most items of a page: ${PAGE_LIMITS.usual} when it is not given, and never more than ${PAGE_LIMITS.most}.`,
  name_pattern: "Only names that contain this; with `*`, which stands for anything, the whole name.",
  offset: "Items to leave out at the beginning.",
  package_name: "Only of this package.",
  page_token: "Where the page begins: `x-next-page-token` of the one before.",
  reason: "Why; kept in the history.",
  sort: "The order; `-` turns it round.",
  source:
    "`deployments` (what was planned) or `zenoh` (what each cluster says; the word is kept from earlier releases).",
  status: "Only in this condition.",
  tags: "Only with all of these tags.",
  target_cluster: "Only with a unit in this cluster.",
  target_env: "Only of this kind of environment, or with a unit in the cluster of this name.",
  to: "The later revision.",
  topic: "Only of this topic.",
};

type Explained<Shape> = {
  readonly [Name in keyof Shape]: Name extends keyof typeof QUERY_PARAMETERS ? unknown : never;
};

/** The parameters of a query, each of which is explained above. */
export function parameters<Shape extends z.ZodRawShape>(shape: Shape & Explained<Shape>, violationsOf?: Rules) {
  return input<Shape>(shape, QUERY_PARAMETERS as unknown as Meanings<Shape>, violationsOf);
}

/** A whole number in a query. One out of all bounds is read too, to be refused by its range. */
export function queryWhole(range: WholeRange) {
  const digits = (value: unknown, context: z.RefinementCtx): unknown => {
    if (value === undefined) return undefined;
    // Without the sign of -0.
    if (typeof value === "string" && /^-?\d{1,300}$/.test(value)) return Number(value) + 0;
    return refused(value, context, { message: "is not a whole number", fix: "write it in digits, such as 20" });
  };
  return z.preprocess(digits, wholeNumber(range).optional());
}

/** What came in place of a single value of another form is told as it was written: in a query everything is a text. */
function refused(value: unknown, context: z.RefinementCtx, { message, fix }: Objection): unknown {
  if (Array.isArray(value)) return refusedTwice(context);
  context.addIssue({ code: "custom", message: `${shown(value)} ${message}`, params: { fix } });
  return z.NEVER;
}

function refusedTwice(context: z.RefinementCtx): unknown {
  context.addIssue({ code: "custom", message: "is given twice", params: { fix: "give it once" } });
  return z.NEVER;
}

/** A switch in a query: true or false. A name without a value is wrong, as it may be a slip, and one of them deletes. */
export function queryFlag() {
  const read = (value: unknown, context: z.RefinementCtx): unknown => {
    if (value === undefined) return undefined;
    if (value === "true" || value === "false") return value === "true";
    return refused(value, context, { message: "is neither true nor false", fix: "write true or false" });
  };
  return z.preprocess(read, z.boolean().optional());
}

/** A list in a query: repeated, separated by commas, or both. */
export function queryList() {
  const read = (value: unknown): unknown =>
    value === undefined
      ? undefined
      : [value]
          .flat()
          .flatMap(itemsIn)
          .filter((item) => item !== "");
  return z.preprocess(read, z.array(z.string()).optional());
}

function itemsIn(value: unknown): unknown {
  return typeof value === "string" ? value.split(",") : value;
}

/** Text in a query; empty is absent. */
export function queryText() {
  return givenOnce(z.preprocess((value) => (value === "" ? undefined : value), z.string().optional()));
}

/** Refuses what is repeated in words of its own: nobody wrote a list. */
function givenOnce<Schema extends z.ZodType>(schema: Schema) {
  const read = (value: unknown, context: z.RefinementCtx): unknown =>
    Array.isArray(value) ? refusedTwice(context) : value;
  return z.preprocess(read, schema);
}

/** The parameters that every list has: the seeds' `limit` and `offset`, and a cursor beside them. */
export const pageQuery = {
  limit: queryWhole(COUNT_RANGE),
  offset: queryWhole(COUNT_RANGE),
  page_token: queryText(),
};

/** A cluster under either of its two names. Empty is wrong, not absent: what is meant for one cluster must not reach all. */
export const clusterQuery = {
  cluster: givenOnce(textOf<ClusterName>(CLUSTER_NAME).optional()),
  env: givenOnce(textOf<ClusterName>(CLUSTER_NAME).optional()),
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
  return givenOnce(z.enum(orders).optional());
}
