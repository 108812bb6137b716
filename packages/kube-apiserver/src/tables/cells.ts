import { formatLabelSelector, type JsonObject, type JsonValue } from "@oaas/kube-core";
import type { Column } from "../kinds/kind.ts";
import { ageText } from "../kinds/custom/crd-kinds.ts";
import { member, objectAt, objectsAt, textAt } from "../kinds/json-access.ts";
import { requirementsOf } from "../kinds/validation/selectors.ts";

/** The cell of an object at a time. */
export type Cell = (object: JsonObject, now: number) => JsonValue;

interface ColumnOptions {
  readonly type?: string;
  readonly format?: string;
  /** Only with `-o wide`. */
  readonly isWide?: boolean;
}

/** A column of a built-in kind, without a description. */
export function column(
  name: string,
  cell: Cell,
  { type = "string", format = "", isWide = false }: ColumnOptions = {},
): Column {
  return { name, type, format, description: "", priority: isWide ? 1 : 0, cell };
}

export const NAME: Column = column("Name", (object) => nameOf(object), { format: "name" });
export const AGE: Column = column("Age", (object, now) =>
  formatAge(textAt(objectAt(object, "metadata"), "creationTimestamp"), now),
);

export function nameOf(object: JsonObject): string {
  return textAt(objectAt(object, "metadata"), "name");
}

/** Age of a time. */
export function formatAge(time: string, now: number): string {
  return time === "" ? "<unknown>" : ageText(now - Date.parse(time));
}

export function isTerminating(object: JsonObject): boolean {
  return member(objectAt(object, "metadata"), "deletionTimestamp") !== undefined;
}

/** A string, or the placeholder for a missing one. */
export function orElse(text: string, other: string): string {
  return text === "" ? other : text;
}

/** Labels as `a=b,c=d`. */
export function labelsText(labels: JsonObject): string {
  const pairs = Object.keys(labels).map((key) => `${key}=${textAt(labels, key)}`);
  return orElse(pairs.toSorted().join(","), "<none>");
}

/** A selector as text. */
export function selectorText(selector: JsonObject | undefined): string {
  return selector === undefined ? "<none>" : orElse(formatLabelSelector(requirementsOf(selector)), "<none>");
}

/** The names and images of a template's containers, for the wide form. */
export function containerColumns(specOf: (object: JsonObject) => JsonObject): readonly Column[] {
  const joined =
    (name: string): Cell =>
    (object) =>
      objectsAt(specOf(object), "containers")
        .map((container) => textAt(container, name))
        .join(",");
  return [column("Containers", joined("name"), { isWide: true }), column("Images", joined("image"), { isWide: true })];
}

/** At most this many, and the number of further ones. */
export function listText(items: readonly string[], limit: number, nothing: string): string {
  if (items.length === 0) return nothing;
  const visible = items.slice(0, limit).join(",");
  return items.length > limit ? `${visible} + ${items.length - limit} more...` : visible;
}

/** Addresses of a load balancer, each once. */
export function balancerText(status: JsonObject): string {
  const addresses = objectsAt(objectAt(status, "loadBalancer"), "ingress").map(
    (each) => textAt(each, "ip") || textAt(each, "hostname"),
  );
  return [...new Set(addresses.filter((address) => address !== ""))].toSorted().join(",");
}

const MODES: readonly (readonly [string, string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

/** Abbreviated access modes. */
export function modesText(modes: readonly string[]): string {
  return MODES.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(",");
}
