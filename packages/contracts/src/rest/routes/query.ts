import type { Violation } from "@oaas/foundation";
import { CLUSTER_NAME, COUNT_RANGE, type ClusterName, type TextProblem, type WholeRange } from "@oaas/models";
import { z } from "zod";
import { formatValue } from "../reading/violations.ts";
import { field, input, readRuledText, integerSchema, type Field, type Rules } from "../reading/fields.ts";

/**
 * Query parameters arrive as strings, or as lists of strings when repeated; these readers convert them.
 *
 * An empty parameter is invalid as a number, boolean or sort order, and absent as a string or list.
 */

/** Default and maximum page size. */
export const PAGE_LIMITS = { usual: 100, most: 1000 } as const;

/** The description of each parameter; a name means the same on every route. */
const QUERY_PARAMETERS = {
  action: "Filter by operation id.",
  actor: "Filter by subject or name of the caller.",
  api_version: "Kubernetes API version; needed when several kinds have this name.",
  apply_deployments: "Also apply the deployments of the package.",
  cascade: "Delete the package's deployments first.",
  class_key: "Filter by class key.",
  code: "Authorization code of the issuer.",
  component: "Limit the signals to this function, or to `odgm`.",
  cluster: "Limit the request to this cluster.",
  collection: "Collection. Default: the only one of the deployment.",
  condition: "Filter by condition.",
  contains: "Only lines that contain this text; `tail_lines` counts before.",
  disabled: "Filter by disabled or enabled.",
  dry_run: "Validate the document and report what would change; nothing is written.",
  env: "Same as `cluster`.",
  error: "Error of the issuer.",
  environment: "Filter by environment: cluster, target environment or namespace.",
  filter: "Filter by substring of the key; with `*` as a wildcard, matches the whole key.",
  follow: "Also stream later output, until the client disconnects.",
  fresh:
    "Read after every write that was acknowledged before: writes a reserved object and waits for it. Needs a quorum.",
  from: "Earlier revision.",
  function: "Limit the output to this function.",
  iss: "Issuer of the answer (RFC 9207).",
  key: "Filter by key.",
  kind: "Filter by kind.",
  limit: `Page size. Default: ${PAGE_LIMITS.usual}, maximum: ${PAGE_LIMITS.most}. A page also ends at about 4 MB: while there is a next page token, continue with it.`,
  max_entries: "At most this many entries: the largest, or those that need attention. Default: all.",
  max_nodes:
    "Groups nodes of the same type until there are at most this many, and merges edges between the same nodes; both have their number in `metadata.count`. Nodes then have no list of classes.",
  name_pattern: "Filter by substring of the name; with `*` as a wildcard, matches the whole name.",
  offset: "Number of items to skip.",
  outcome: "Filter by outcome.",
  package_name: "Filter by package name.",
  partition: "Only this partition. Default: all, one after the other.",
  page_token: "Page token: `x-next-page-token` of the previous page.",
  prefix: "Only ids that start with this text.",
  previous: "Output of the previous run of each restarted container.",
  range_seconds: "Length of the range. Default: 3600, maximum: 604800.",
  reason: "Reason; stored in the history.",
  return_to: "Path of this origin to go to after signing in. Default: `/`.",
  since: "Only entries of this time or later (RFC 3339).",
  since_seconds: "Only output of the last seconds.",
  sort: "Sort field; prefix with `-` for descending order.",
  source:
    "`deployments` (from the plans) or `zenoh` (as reported by each cluster; the name is kept for compatibility).",
  state: "Filter by state; of a sign-in, the value that ties the answer to its request.",
  status: "Filter by condition.",
  step_seconds: "Time between values. Default: 1/120 of the range; at least 1/720 of it.",
  tail_lines: "Only the last lines of each pod.",
  tags: "Filter by tags; all must match.",
  target: "Filter by substring of the target.",
  target_cluster: "Filter by cluster of a unit.",
  target_env: "Filter by environment kind, or by cluster of a unit.",
  to: "Later revision.",
  topic: "Filter by topic.",
};

type Explained<Shape> = {
  readonly [Name in keyof Shape]: Name extends keyof typeof QUERY_PARAMETERS ? unknown : never;
};

/** The schema of a query; every parameter must have a description above. */
export function parameters<Shape extends Readonly<Record<string, z.ZodType>>>(
  shape: Shape & Explained<Shape>,
  violationsOf?: Rules,
) {
  type Parameters = { readonly [Name in keyof Shape]: Field<Shape[Name]> };
  const descriptions: Readonly<Record<string, string>> = QUERY_PARAMETERS;
  const described = Object.entries(shape).map(([name, schema]) => [name, field(descriptions[name] ?? "", schema)]);
  return input<Parameters>(Object.fromEntries(described) as Parameters, violationsOf);
}

/** An integer in a query. Numbers of any size are parsed, so that the range check reports them. */
export function queryInteger(range: WholeRange) {
  const digits = (value: unknown, context: z.RefinementCtx): unknown => {
    if (value === undefined) return undefined;
    // + 0 turns -0 into 0.
    if (typeof value === "string" && /^-?\d{1,300}$/.test(value)) return Number(value) + 0;
    return rejectValue(value, context, { message: "is not an integer", fix: "use digits, such as 20" });
  };
  return z.preprocess(digits, integerSchema(range).optional());
}

/** Reports the value as it was written: in a query everything is a string. */
function rejectValue(value: unknown, context: z.RefinementCtx, { message, fix }: TextProblem): unknown {
  if (Array.isArray(value)) return rejectRepeated(context);
  context.addIssue({ code: "custom", message: `${formatValue(value)} ${message}`, params: { fix } });
  return z.NEVER;
}

function rejectRepeated(context: z.RefinementCtx): unknown {
  context.addIssue({ code: "custom", message: "is repeated", params: { fix: "set it once" } });
  return z.NEVER;
}

/** A boolean in a query. A name without a value is invalid: it may be a typo, and one of these parameters deletes. */
export function queryBoolean() {
  const read = (value: unknown, context: z.RefinementCtx): unknown => {
    if (value === undefined) return undefined;
    if (value === "true" || value === "false") return value === "true";
    return rejectValue(value, context, { message: "is not a boolean", fix: "use true or false" });
  };
  return z.preprocess(read, z.boolean().optional());
}

/** A list in a query: repeated, comma-separated, or both. */
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

/** A string in a query; empty means absent. */
export function queryText() {
  return notRepeated(z.preprocess((value) => (value === "" ? undefined : value), z.string().optional()));
}

/** A time in a query (RFC 3339). */
export function queryTime() {
  const read = (value: unknown, context: z.RefinementCtx): unknown => {
    if (value === undefined || (typeof value === "string" && TIME.test(value) && !Number.isNaN(Date.parse(value))))
      return value;
    return rejectValue(value, context, { message: "is not a time", fix: "use for example 2026-01-31T12:00:00Z" });
  };
  return z.preprocess(read, z.string().optional());
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Rejects a repeated parameter with its own message instead of a type error about a list. */
function notRepeated<Schema extends z.ZodType>(schema: Schema) {
  const read = (value: unknown, context: z.RefinementCtx): unknown =>
    Array.isArray(value) ? rejectRepeated(context) : value;
  return z.preprocess(read, schema);
}

/** The parameters of every list: `limit` and `offset` of the seeds, and a page token. */
export const pageQuery = {
  limit: queryInteger(COUNT_RANGE),
  offset: queryInteger(COUNT_RANGE),
  page_token: queryText(),
};

/** A cluster under either name. Empty is invalid, not absent: a request for one cluster must not reach all. */
export const clusterQuery = {
  cluster: notRepeated(readRuledText<ClusterName>(CLUSTER_NAME).optional()),
  env: notRepeated(readRuledText<ClusterName>(CLUSTER_NAME).optional()),
};

/** Rejects `cluster` and `env` with different values. */
export function checkClusterAliases(members: Readonly<Record<string, unknown>>): readonly Violation[] {
  const { cluster, env } = members as { readonly cluster?: unknown; readonly env?: unknown };
  if (cluster === undefined || env === undefined || cluster === env) return [];
  return [{ path: "$.env", message: "differs from `cluster`, which is an alias", fix: "set one of the two" }];
}

/** The sort fields of a list; `-` sorts in descending order. */
export function querySort<const Field extends string>(fields: readonly Field[]) {
  const orders = fields.flatMap((field) => [field, `-${field}` as const]);
  return notRepeated(z.enum(orders).optional());
}

/** Limits a list that is read at once. */
export const entriesQuery = { max_entries: queryInteger({ min: 1, max: PAGE_LIMITS.most }) };

const revisionNumber = { min: 1, max: Number.MAX_SAFE_INTEGER };

/** Query of a route that compares two revisions. */
export const diffQuery = parameters({ from: queryInteger(revisionNumber), to: queryInteger(revisionNumber) });

const secondsOfYear = { min: 1, max: 31_622_400 };

/** Query of the output of functions. */
export const logQuery = parameters(
  {
    ...clusterQuery,
    function: queryText(),
    follow: queryBoolean(),
    previous: queryBoolean(),
    tail_lines: queryInteger({ min: 0, max: 100_000 }),
    since_seconds: queryInteger(secondsOfYear),
    contains: queryText(),
  },
  checkClusterAliases,
);

/** Query of a route that can be limited to one cluster. */
export const oneCluster = parameters(clusterQuery, checkClusterAliases);
