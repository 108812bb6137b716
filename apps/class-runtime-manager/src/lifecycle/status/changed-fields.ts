import type { KubeObject } from "@oaas/kube-core";
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
type Members = Readonly<Record<string, unknown>>;

/** Limit for one object. */
const MAX_FIELDS = 16;

/**
 * The fields in which `after` differs from `before`, without status and the metadata that the server sets. Items of lists
 * are matched by name. Members with an ignored name are left out.
 */
export function changedFields(before: KubeObject, after: KubeObject, ignored: ReadonlySet<string>): ChangedFields {
  const fields: ChangedField[] = [];
  let moreFields = 0;
  const text = (steps: readonly Step[], value: unknown): string => valueText(before.kind, steps, value, "");
  const report: Report = (steps, was, now) => {
    const last = steps.at(-1);
    if (typeof last === "string" && ignored.has(last)) return;
    if (fields.length >= MAX_FIELDS) moreFields += 1;
    else fields.push({ path: pathText(steps), was: text(steps, was), now: text(steps, now) });
  };
  compare([], contentOf(before), contentOf(after), report);
  return { fields, moreFields };
}

function contentOf(object: KubeObject): Members {
  const { apiVersion: _, kind: _kind, metadata, status: _status, ...rest } = object as KubeObject & Members;
  const { labels, annotations, ownerReferences } = metadata;
  return { metadata: { labels, annotations, ownerReferences }, ...rest };
}

function compare(steps: readonly Step[], before: unknown, after: unknown, report: Report): void {
  if (isNamedList(before) && isNamedList(after)) return compareItems(steps, before ?? [], after ?? [], report);
  if (isMembers(before) || isMembers(after)) {
    // An empty object on one side only is a change of its own.
    if (isEmpty(before) !== isEmpty(after) && isLeaf(before) && isLeaf(after)) return report(steps, before, after);
    return compareMembers(steps, membersOf(before), membersOf(after), report);
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    for (const [index, item] of after.entries()) compare([...steps, index], before[index], item, report);
  else if (!Object.is(before, after)) report(steps, itemCount(before), itemCount(after));
}

function compareMembers(steps: readonly Step[], before: Members, after: Members, report: Report): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
    compare([...steps, name], before[name], after[name], report);
}

function compareItems(steps: readonly Step[], before: NamedList, after: NamedList, report: Report): void {
  for (const name of new Set([...before, ...after].map((item) => item.name))) {
    const find = (items: NamedList): Members => {
      // The path has the name.
      const { name: _, ...rest } = items.find((item) => item.name === name) ?? {};
      return rest;
    };
    compareMembers([...steps, { key: `name=${name}` }], find(before), find(after), report);
  }
}

type NamedList = readonly (Members & { readonly name: string })[];

/** Whether the value is a list whose items have names, or absent. */
function isNamedList(value: unknown): value is NamedList | undefined {
  return (
    value === undefined ||
    (Array.isArray(value) && value.every((item) => isMembers(item) && typeof item["name"] === "string"))
  );
}

function isLeaf(value: unknown): boolean {
  return !isMembers(value) || isEmpty(value);
}

function isEmpty(value: unknown): boolean {
  return isMembers(value) && Object.keys(value).length === 0;
}

function membersOf(value: unknown): Members {
  return isMembers(value) ? value : {};
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
