import { compareQuantities, parseQuantity, type KubeObject } from "@oaas/kube-core";
import { itemCount, pathText, valueText, type Step } from "./field-text.ts";

/** One field that an apply changes. */
export interface ChangedField {
  readonly path: string;
  /** JSON of the value, shortened; masked if it may be a secret. Empty when the field is absent. */
  readonly was: string;
  readonly now: string;
}

export interface ChangedFields {
  readonly fields: readonly ChangedField[];
  /** Further fields that are not listed. */
  readonly moreFields: number;
}

type Report = (steps: readonly Step[], was: unknown, now: unknown) => void;

/** Limit for one object. */
const MAX_FIELDS = 16;

/**
 * The fields that applying `rendered` over `live` changes: rendered values that differ, and fields that `manager` applied
 * earlier and renders no longer. Items of lists are matched by name. `live` must have its managed fields.
 */
export function changedFields(
  live: KubeObject,
  rendered: KubeObject,
  manager: string,
  ignored: ReadonlySet<string> = new Set(),
): ChangedFields {
  const fields: ChangedField[] = [];
  let moreFields = 0;
  const text = (steps: readonly Step[], value: unknown): string => valueText(live.kind, steps, value, "");
  const report: Report = (steps, was, now) => {
    if (ignored.has(String(steps.at(-1)))) return;
    if (fields.length >= MAX_FIELDS) moreFields += 1;
    else fields.push({ path: pathText(steps), was: text(steps, was), now: text(steps, now) });
  };
  compareRendered([], live, rendered, report);
  const applied = live.metadata.managedFields?.find(
    (entry) => entry.manager === manager && entry.operation === "Apply" && entry.subresource === undefined,
  );
  reportRemoved([], applied?.fieldsV1, live, rendered, report);
  return { fields, moreFields };
}

function compareRendered(steps: readonly Step[], live: unknown, rendered: unknown, report: Report): void {
  if (Array.isArray(rendered)) return compareList(steps, live, rendered, report);
  if (isRecord(rendered)) {
    const members = isRecord(live) ? live : {};
    for (const [name, value] of Object.entries(rendered))
      compareRendered([...steps, name], members[name], value, report);
    return;
  }
  if (!Object.is(live, rendered) && !isSameQuantity(steps, live, rendered)) report(steps, live, rendered);
}

/** The server stores quantities in their canonical form, such as 200m for 0.2. */
function isSameQuantity(steps: readonly Step[], live: unknown, rendered: unknown): boolean {
  if (steps.at(-2) !== "requests" && steps.at(-2) !== "limits") return false;
  const [was, now] = [live, rendered].map((value) => parseQuantity(typeof value === "number" ? value : String(value)));
  return was?.ok === true && now?.ok === true && compareQuantities(was.value, now.value) === 0;
}

function compareList(steps: readonly Step[], live: unknown, rendered: readonly unknown[], report: Report): void {
  const items: readonly unknown[] = Array.isArray(live) ? live : [];
  if (rendered.every(isNamed) && (rendered.length > 0 || items.every(isNamed))) {
    for (const item of rendered) {
      const same = items.find((other) => isNamed(other) && other.name === item.name);
      const { name, ...rest } = item;
      // The path has the name of a new item.
      compareRendered([...steps, { key: `name=${name}` }], same, same === undefined ? rest : item, report);
    }
    return;
  }
  if (items.length !== rendered.length) report(steps, itemCount(live), itemCount(rendered));
  else for (const [index, item] of rendered.entries()) compareRendered([...steps, index], items[index], item, report);
}

/** Walks the fields that a manager owns, and reports those that are not rendered any more. */
function reportRemoved(steps: readonly Step[], owned: unknown, live: unknown, rendered: unknown, report: Report): void {
  if (!isRecord(owned)) return;
  for (const [entry, below] of Object.entries(owned)) {
    const child = childOf(entry, live, rendered);
    if (child === undefined || child.live === undefined) continue;
    const path = [...steps, child.step];
    if (child.rendered === undefined) reportLeaves(path, child.content, report);
    else reportRemoved(path, below, child.live, child.rendered, report);
  }
}

interface Child {
  readonly step: Step;
  readonly live: unknown;
  /** `live` without the fields that the step names. */
  readonly content: unknown;
  readonly rendered: unknown;
}

/** The member or the item that an entry of a field set names; undefined for the object itself and for values of sets. */
function childOf(entry: string, live: unknown, rendered: unknown): Child | undefined {
  const name = entry.slice(2);
  if (entry.startsWith("f:")) {
    const member = memberOf(live, name);
    return { step: name, live: member, content: member, rendered: memberOf(rendered, name) };
  }
  if (!entry.startsWith("k:")) return undefined;
  const key = JSON.parse(name) as Readonly<Record<string, unknown>>;
  const step = {
    key: Object.entries(key)
      .map(([field, value]) => `${field}=${String(value)}`)
      .join(","),
  };
  const item = itemWith(live, key);
  const content = isRecord(item)
    ? Object.fromEntries(Object.entries(item).filter(([field]) => !Object.hasOwn(key, field)))
    : item;
  return { step, live: item, content, rendered: itemWith(rendered, key) };
}

function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The item with these fields. The server sets defaults in keys, such as the protocol of a port. */
function itemWith(list: unknown, key: Readonly<Record<string, unknown>>): unknown {
  if (!Array.isArray(list)) return undefined;
  return list.find(
    (item) =>
      isRecord(item) &&
      Object.entries(key).every(([field, value]) => item[field] === undefined || item[field] === value),
  );
}

function reportLeaves(steps: readonly Step[], value: unknown, report: Report): void {
  if (Array.isArray(value) && !value.every(isNamed)) return report(steps, itemCount(value), undefined);
  if (Array.isArray(value))
    for (const { name, ...rest } of value) reportLeaves([...steps, { key: `name=${name}` }], rest, report);
  else if (isRecord(value))
    for (const [name, below] of Object.entries(value)) reportLeaves([...steps, name], below, report);
  else report(steps, value, undefined);
}

function isNamed(item: unknown): item is Readonly<Record<string, unknown>> & { readonly name: string } {
  return isRecord(item) && typeof item["name"] === "string";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
