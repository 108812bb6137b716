import { equalJson, pathOf, ROOT_PATH } from "@oaas/foundation";
import { POD_SETTINGS, type ProvisionConfig } from "@oaas/models";
import { redactMember } from "@oaas/observability/secrets";
import { ownEntry, type DeploymentPlan } from "../plan-types.ts";
import { planContent } from "../plan-units.ts";
import { changeEffect } from "./change-effect.ts";

/** One difference between two plans. */
export interface PlanDifference {
  /** The path in API names, with units by cluster and functions by key. */
  readonly path: string;
  readonly change: "added" | "removed" | "changed";
  readonly before?: unknown;
  readonly after?: unknown;
  readonly text: string;
  /** What restarts, and which data moves or is lost. */
  readonly effect?: string;
}

/**
 * Lists the differences between two plans of one deployment, the state store first, secrets masked. Empty exactly when
 * their digests are equal.
 */
export function comparePlans(before: DeploymentPlan, after: DeploymentPlan): readonly PlanDifference[] {
  return differences({ path: ROOT_PATH, steps: [], isUserKeyed: false }, keyByName(before), keyByName(after));
}

/** The content of a plan with lists keyed by name, so that a changed order is not a difference. */
function keyByName(plan: DeploymentPlan): Readonly<Record<string, unknown>> {
  const { units, shared, odgm, ...rest } = planContent(plan);
  return {
    odgm,
    ...rest,
    units: byName(units, ({ cluster, functions, ...unit }) => [
      cluster,
      { ...unit, functions: byName(functions, ({ functionKey, ...scale }) => [functionKey, scale]) },
    ]),
    ...shared,
    functions: byName(shared.functions, ({ functionKey, provision, ...fn }) => [
      functionKey,
      { ...fn, provision: withNamedEnv(provision) },
    ]),
    functionOrder: shared.functions.map(({ functionKey }) => functionKey),
  };
}

/** Variables by name, so that the value of a secret one is masked. */
function withNamedEnv({ env, ...rest }: ProvisionConfig): Readonly<Record<string, unknown>> {
  if (env === undefined) return rest;
  const named = byName(env, ({ name, value, valueFrom }) => [name, value ?? { valueFrom }]);
  return { ...rest, env: named, envOrder: env.map(({ name }) => name) };
}

function byName<T>(
  items: readonly T[],
  entry: (item: T) => readonly [string, unknown],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(items.map(entry));
}

/** API names that differ from the snake_case of the internal name. */
const WIRE_NAMES: Readonly<Record<string, string>> = {
  environmentKind: "target_env",
  nfr: "nfr_requirements",
  nodeIds: "env_node_ids",
  provision: "provision_config",
  state: "state_spec",
};
/** Maps whose keys are user data and are not translated. */
const USER_KEYED_MAPS: ReadonlySet<string> = new Set([
  "assignments",
  "config",
  "env",
  "functions",
  "nodeIds",
  "resourceAttributes",
  "units",
]);

function wireName(name: string): string {
  if ((POD_SETTINGS as readonly string[]).includes(name)) return name;
  return WIRE_NAMES[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

interface Place {
  readonly path: string;
  /** The internal names of the path. */
  readonly steps: readonly string[];
  /** Whether the names of the members are user data. */
  readonly isUserKeyed: boolean;
}

function differences({ path, steps, isUserKeyed }: Place, before: unknown, after: unknown): PlanDifference[] {
  if (equalJson(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((member) => {
      const place = {
        path: pathOf(path, isUserKeyed ? member : wireName(member)),
        steps: [...steps, member],
        isUserKeyed: !isUserKeyed && USER_KEYED_MAPS.has(member),
      };
      return differences(place, ownEntry(before, member), ownEntry(after, member));
    });
  }
  const name = steps.at(-1) ?? "";
  const effect = changeEffect(steps, before, after);
  const difference = differenceAt(path, redactMember(name, before), redactMember(name, after));
  return [{ ...difference, ...(effect === undefined ? {} : { effect }) }];
}

function differenceAt(path: string, before: unknown, after: unknown): PlanDifference {
  return {
    path,
    change: before === undefined ? "added" : after === undefined ? "removed" : "changed",
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    text: `${path.slice(ROOT_PATH.length + 1)} ${changeText(before, after)}`,
  };
}

function changeText(before: unknown, after: unknown): string {
  if (before === undefined) return `was added${isShort(after) ? `: ${JSON.stringify(after)}` : ""}`;
  if (after === undefined) return `was removed${isShort(before) ? `: ${JSON.stringify(before)}` : ""}`;
  if (!isShort(before) || !isShort(after) || equalJson(before, after)) return "changed";
  return `changed from ${JSON.stringify(before)} to ${JSON.stringify(after)}`;
}

/** Longer values are omitted from the text; `before` and `after` have them. */
const MAX_TEXT_LENGTH = 60;

function isShort(value: unknown): boolean {
  return JSON.stringify(value).length <= MAX_TEXT_LENGTH;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
