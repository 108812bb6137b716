import { equalJson, pathOf, ROOT_PATH } from "@oaas/foundation";
import { ownEntry } from "./own-entry.ts";
import type { DeploymentPlan } from "./plan-types.ts";
import { planContent } from "./units.ts";

/** One thing that a newer plan does differently. */
export interface PlanDifference {
  /** Where in the plan; units by cluster, functions by key. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly text: string;
}

/** What moved between two plans of one deployment. Empty exactly when their digests are equal. */
export function comparePlans(before: DeploymentPlan, after: DeploymentPlan): readonly PlanDifference[] {
  return differences(ROOT_PATH, keyed(before), keyed(after));
}

/** The content of a plan with names in place of positions, so that what moved up in a list did not change. */
function keyed(plan: DeploymentPlan): Readonly<Record<string, unknown>> {
  const { units, shared, odgm, ...rest } = planContent(plan);
  return {
    ...rest,
    units: byName(units, ({ cluster, functions, ...unit }) => [
      cluster,
      { ...unit, functions: byName(functions, ({ functionKey, ...scale }) => [functionKey, scale]) },
    ]),
    ...(odgm === undefined ? {} : { odgm }),
    shared: {
      ...shared,
      functions: byName(shared.functions, ({ functionKey, ...fn }) => [functionKey, fn]),
      function_order: shared.functions.map(({ functionKey }) => functionKey),
    },
  };
}

function byName<T>(
  items: readonly T[],
  entry: (item: T) => readonly [string, unknown],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(items.map(entry));
}

function differences(path: string, before: unknown, after: unknown): PlanDifference[] {
  if (equalJson(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => differences(pathOf(path, name), ownEntry(before, name), ownEntry(after, name)));
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
