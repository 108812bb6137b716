import { DIMENSIONS } from "@oaas/nfr";
import type { StoredRecommendation } from "@oaas/nfr/explanation";

/** What a class runtime reports about its requirements. */
export interface ClassNfrStatus {
  readonly name: string;
  readonly cluster?: string;
  readonly requirements: readonly MeasuredRequirement[];
  readonly recommendations: readonly StoredRecommendation[];
  /** The conditions NfrObserved and NfrEnforced. */
  readonly conditions: readonly StatusCondition[];
  readonly enforcement: readonly EnforcementEntry[];
}

export interface MeasuredRequirement {
  readonly requirement: string;
  readonly component: string;
  readonly status: string;
  readonly reason?: string;
  readonly required: number;
  readonly observed?: number;
  readonly unit: string;
  readonly since?: string;
  readonly budgetLeft?: number;
  readonly burnRates: readonly { readonly windows: string; readonly long?: number; readonly short?: number }[];
}

export interface StatusCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** What the enforcer remembers of one dimension of one component. */
export interface EnforcementEntry {
  readonly component: string;
  readonly dimension: string;
  readonly lastSkip?: string;
  readonly lastAction?: { readonly at: string; readonly from: number; readonly to: number; readonly lane: string };
  readonly frozenUntil?: string;
  readonly directionChanges: number;
}

/**
 * Reads class runtimes from the JSON of kubectl (an object or a list) or from a response of the package manager. Fields
 * that are missing or have another type are ignored, so that other versions of the managers can be explained.
 */
export function readNfrStatuses(document: unknown): readonly ClassNfrStatus[] {
  const { items } = fieldsOf(document);
  if (Array.isArray(document) || Array.isArray(items)) {
    return listOf(Array.isArray(document) ? document : items).flatMap(readNfrStatuses);
  }
  const { metadata, id, cluster_name, status, nfr_compliance } = fieldsOf(document);
  const name = textOf(fieldsOf(metadata)["name"]) ?? textOf(id);
  if (name === undefined) return [];
  const written = fieldsOf(status);
  const cluster = textOf(cluster_name);
  return [
    {
      name,
      ...(cluster === undefined ? {} : { cluster }),
      requirements: listOf(fieldsOf(written["nfr_compliance"] ?? nfr_compliance)["measurements"]).flatMap(
        readRequirement,
      ),
      recommendations: listOf(written["nfr_recommendations"]).flatMap(readRecommendation),
      conditions: listOf(written["conditions"]).flatMap(readCondition),
      enforcement: readEnforcement(written),
    },
  ];
}

function readRequirement(value: unknown): MeasuredRequirement[] {
  const fields = fieldsOf(value);
  const requirement = textOf(fields["requirement"]);
  const required = numberOf(fields["required"]);
  if (requirement === undefined || required === undefined) return [];
  return [
    {
      requirement,
      required,
      component: textOf(fields["component"]) ?? "",
      status: textOf(fields["status"]) ?? "unknown",
      unit: textOf(fields["unit"]) ?? "",
      ...optionalFields({
        reason: textOf(fields["reason"]),
        observed: numberOf(fields["observed"]),
        since: textOf(fields["since"]),
        budgetLeft: numberOf(fields["error_budget_left"]),
      }),
      burnRates: listOf(fields["burn_rates"]).map(readBurnRate),
    },
  ];
}

/** The package manager names the windows `long_window` and `short_window`. */
function readBurnRate(value: unknown): MeasuredRequirement["burnRates"][number] {
  const { long, short, long_window, short_window, long_rate, short_rate } = fieldsOf(value);
  const windows = `${textOf(long ?? long_window) ?? "?"}/${textOf(short ?? short_window) ?? "?"}`;
  return { windows, ...optionalFields({ long: numberOf(long_rate), short: numberOf(short_rate) }) };
}

function readRecommendation(value: unknown): StoredRecommendation[] {
  const fields = fieldsOf(value);
  const component = textOf(fields["component"]);
  const dimension = DIMENSIONS.find((known) => known === fields["dimension"]);
  const target = numberOf(fields["target"]);
  if (component === undefined || dimension === undefined || target === undefined) return [];
  const evidence = fieldsOf(fields["evidence"]);
  const numbers = Object.entries(fieldsOf(evidence["values"])).flatMap(([name, each]) => {
    const number = numberOf(each);
    return number === undefined ? [] : [[name, number] as const];
  });
  return [
    {
      component,
      dimension,
      target,
      values: Object.fromEntries(numbers),
      ...optionalFields({
        lowerBound: numberOf(fields["lower_bound"]),
        upperBound: numberOf(fields["upper_bound"]),
        current: numberOf(fields["current"]),
        confidence: numberOf(fields["confidence"]),
        window: textOf(evidence["window"]),
        floor: textOf(evidence["floor"]),
        ceiling: textOf(evidence["ceiling"]),
      }),
    },
  ];
}

function readCondition(value: unknown): StatusCondition[] {
  const { type, status, reason, message } = fieldsOf(value);
  if (type !== "NfrObserved" && type !== "NfrEnforced") return [];
  return [{ type, status: textOf(status) ?? "", reason: textOf(reason) ?? "", message: textOf(message) ?? "" }];
}

/** The state of the enforcer, or the last change of each dimension where only that is reported. */
function readEnforcement(written: Fields): EnforcementEntry[] {
  const states = listOf(written["enforcement_state"]).map(fieldsOf);
  const entries = states.length > 0 ? states : listOf(written["last_applied_recommendations"]).map(appliedToState);
  return entries.flatMap((fields) => {
    const component = textOf(fields["component"]);
    const dimension = textOf(fields["dimension"]);
    if (component === undefined || dimension === undefined) return [];
    return [
      {
        component,
        dimension,
        directionChanges: numberOf(fields["direction_changes"]) ?? listOf(fields["direction_changes"]).length,
        ...optionalFields({
          lastSkip: textOf(fields["last_skip"]),
          lastAction: readAction(fields["last_action"]),
          frozenUntil: textOf(fields["frozen_until"]),
        }),
      },
    ];
  });
}

function appliedToState(value: unknown): Fields {
  const { component, dimension, current, target, applied, applied_at, lane } = fieldsOf(value);
  const change = fieldsOf(applied);
  const at = change["applied_at"] ?? applied_at;
  return { component, dimension, last_action: { at, from: current, to: target, lane: change["lane"] ?? lane } };
}

function readAction(value: unknown): EnforcementEntry["lastAction"] {
  const fields = fieldsOf(value);
  const at = textOf(fields["at"]);
  const from = numberOf(fields["from"]);
  const to = numberOf(fields["to"]);
  if (at === undefined || from === undefined || to === undefined) return undefined;
  return { at, from, to, lane: textOf(fields["lane"]) ?? "stable" };
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the properties that are undefined. */
function optionalFields<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}
