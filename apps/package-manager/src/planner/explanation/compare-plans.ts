import { equalJson, pathOf, ROOT_PATH } from "@oaas/foundation";
import { ownEntry } from "../own-entry.ts";
import type { DeploymentPlan } from "../plan-types.ts";
import { planContent } from "../plan-units.ts";

/** One thing that a newer plan does differently. */
export interface PlanDifference {
  /** Where in the plan, in the words of the API; units by cluster, functions by key. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly text: string;
}

/** What moved between two plans of one deployment. Empty exactly when their digests are equal. */
export function comparePlans(before: DeploymentPlan, after: DeploymentPlan): readonly PlanDifference[] {
  return differences(ROOT_PATH, keyByName(before), keyByName(after), false);
}

/** The content of a plan with names in place of positions, so that what moved up in a list did not change. */
function keyByName(plan: DeploymentPlan): Readonly<Record<string, unknown>> {
  const { units, shared, odgm, ...rest } = planContent(plan);
  return {
    ...rest,
    units: byName(units, ({ cluster, functions, ...unit }) => [
      cluster,
      { ...unit, functions: byName(functions, ({ functionKey, ...scale }) => [functionKey, scale]) },
    ]),
    ...(odgm === undefined ? {} : { odgm }),
    ...shared,
    functions: byName(shared.functions, ({ functionKey, ...fn }) => [functionKey, fn]),
    functionOrder: shared.functions.map(({ functionKey }) => functionKey),
  };
}

function byName<T>(
  items: readonly T[],
  entry: (item: T) => readonly [string, unknown],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(items.map(entry));
}

/** What has another name outside; the rest is only spelt otherwise. */
const WIRE_NAMES: Readonly<Record<string, string>> = {
  environmentKind: "target_env",
  nfr: "nfr_requirements",
  nodeIds: "env_node_ids",
  provision: "provision_config",
  state: "state_spec",
};
/** Their members have names that users gave. */
const USER_KEYED_MAPS: ReadonlySet<string> = new Set([
  "assignments",
  "config",
  "functions",
  "nodeIds",
  "resourceAttributes",
  "units",
]);

function wireName(name: string): string {
  return WIRE_NAMES[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function differences(path: string, before: unknown, after: unknown, isNamedByUsers: boolean): PlanDifference[] {
  if (equalJson(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => {
      const place = pathOf(path, isNamedByUsers ? name : wireName(name));
      const isMap = !isNamedByUsers && USER_KEYED_MAPS.has(name);
      return differences(place, ownEntry(before, name), ownEntry(after, name), isMap);
    });
  }
  return [
    {
      path,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
      text: `${path.slice(ROOT_PATH.length + 1)} ${changeText(before, after)}`,
    },
  ];
}

function changeText(before: unknown, after: unknown): string {
  if (before === undefined) return `is new${isShort(after) ? `: ${JSON.stringify(after)}` : ""}`;
  if (after === undefined) return `is gone${isShort(before) ? `; it was ${JSON.stringify(before)}` : ""}`;
  if (!isShort(before) || !isShort(after)) return "is another";
  return `was ${JSON.stringify(before)} and is ${JSON.stringify(after)}`;
}

/** Long values are named, not printed: the data has them. */
const LONGEST_SHOWN = 60;

function isShort(value: unknown): boolean {
  return JSON.stringify(value).length <= LONGEST_SHOWN;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
