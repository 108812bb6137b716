import { equalJson, pathOf, ROOT_PATH } from "@oaas/foundation";

/** One difference between two documents. */
export interface Change {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** The differences between two values, down to the leaves. List items with a key or name are matched by it. */
export function diffValues(before: unknown, after: unknown, path = ROOT_PATH): readonly Change[] {
  if (equalJson(before, after)) return [];
  const [left, right] = [membersOf(before), membersOf(after)];
  if (!left || !right || Array.isArray(before) !== Array.isArray(after)) {
    return [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
  }
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((key) =>
    diffValues(left.get(key), right.get(key), pathOf(path, key)),
  );
}

/** Members by name, list items by key or index; undefined for scalars. */
function membersOf(value: unknown): ReadonlyMap<string | number, unknown> | undefined {
  if (Array.isArray(value)) {
    const items = value as readonly unknown[];
    return new Map(items.map((item, index) => [keyOf(item) ?? index, item]));
  }
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : undefined;
}

function keyOf(item: unknown): string | undefined {
  if (typeof item !== "object" || item === null) return undefined;
  const { key, name } = item as { readonly key?: unknown; readonly name?: unknown };
  const found = key ?? name;
  return typeof found === "string" ? found : undefined;
}
