import { equalJson, pathOf, ROOT_PATH } from "@oaas/foundation";
import { redactMember } from "@oaas/observability/secrets";
import type { Change } from "../use-cases.ts";

/**
 * Every difference between two JSON values, by path. List items with a key or a name are matched by it, so that an
 * inserted item does not change the paths of the items after it. Secrets are masked: a changed one has `***` on both sides.
 */
export function jsonChanges(before: unknown, after: unknown): readonly Change[] {
  return changesAt(ROOT_PATH, "", before, after);
}

function changesAt(path: string, name: string, before: unknown, after: unknown): Change[] {
  const shown = (value: unknown): unknown => redactMember(name, value);
  if (before === undefined) return after === undefined ? [] : [{ path, change: "added", after: shown(after) }];
  if (after === undefined) return [{ path, change: "removed", before: shown(before) }];
  if (equalJson(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return itemChanges(path, before, after);
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((member) => changesAt(pathOf(path, member), member, before[member], after[member]));
  }
  return [{ path, change: "changed", before: shown(before), after: shown(after) }];
}

function itemChanges(path: string, before: readonly unknown[], after: readonly unknown[]): Change[] {
  const old = byName(before);
  const now = byName(after);
  if (!old || !now) {
    const longer = Math.max(before.length, after.length);
    return Array.from({ length: longer }, (_, index) =>
      changesAt(pathOf(path, index), "", before[index], after[index]),
    ).flat();
  }
  const moved = !equalJson(
    [...old.keys()].filter((name) => now.has(name)),
    [...now.keys()].filter((name) => old.has(name)),
  );
  const changes = [...new Set([...old.keys(), ...now.keys()])].flatMap((name) =>
    changesAt(pathOf(path, name), "", old.get(name), now.get(name)),
  );
  return moved ? [...changes, { path, change: "changed", before: [...old.keys()], after: [...now.keys()] }] : changes;
}

/** Items by key or name; undefined when an item has none, or two have the same. */
function byName(items: readonly unknown[]): Map<string, unknown> | undefined {
  const named = new Map<string, unknown>();
  for (const item of items) {
    const name =
      typeof item === "string"
        ? item
        : isObject(item)
          ? (item["key"] ?? item["name"] ?? item["function_key"])
          : undefined;
    if (typeof name !== "string" || named.has(name)) return undefined;
    named.set(name, item);
  }
  return named;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
