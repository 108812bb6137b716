import type { KubeObject } from "@oaas/kube-core";
import { itemCount, pathText, valueText } from "./field-text.ts";

/** One field of a child that differed from the rendered value and was set back. */
export interface CorrectedField {
  readonly path: string;
  /** JSON of the value that was found, shortened; masked if it may be a secret. */
  readonly was: string;
  readonly now: string;
}

export interface DriftFields {
  readonly fields: readonly CorrectedField[];
  /** Further fields that are not listed. */
  readonly moreFields: number;
}

/** Limit of one correction: it is stored in the status of the class and in an Event. */
const MAX_FIELDS = 8;

const ABSENT = "(absent)";

type Step = string | number;

/** The rendered fields that a live object lacks or has with another value. */
export function driftFields(live: KubeObject, rendered: KubeObject): DriftFields {
  const found: CorrectedField[] = [];
  let more = 0;
  const text = (steps: readonly Step[], value: unknown): string => valueText(live.kind, steps, value, ABSENT);
  const report = (steps: readonly Step[], was: unknown, now: unknown): void => {
    if (found.length >= MAX_FIELDS) more += 1;
    else found.push({ path: pathText(steps), was: text(steps, was), now: text(steps, now) });
  };
  compare([], live, rendered, report);
  return { fields: found, moreFields: more };
}

function compare(
  steps: readonly Step[],
  live: unknown,
  rendered: unknown,
  report: (steps: readonly Step[], was: unknown, now: unknown) => void,
): void {
  if (Array.isArray(rendered)) {
    if (!Array.isArray(live) || live.length !== rendered.length) report(steps, itemCount(live), itemCount(rendered));
    else for (const [index, item] of rendered.entries()) compare([...steps, index], live[index], item, report);
    return;
  }
  if (isRecord(rendered)) {
    const members = isRecord(live) ? live : {};
    for (const [name, value] of Object.entries(rendered)) compare([...steps, name], members[name], value, report);
    return;
  }
  if (!Object.is(live, rendered)) report(steps, live, rendered);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The last edit of an object by another manager. */
export interface ForeignEdit {
  readonly manager: string;
  readonly atMs: number | undefined;
}

/**
 * The newest update by another field manager that owns one of these fields. Undefined if the fields have no other owner,
 * as after a removal.
 */
export function findEdit(
  { metadata }: KubeObject,
  fields: readonly CorrectedField[],
  own: ReadonlySet<string>,
): ForeignEdit | undefined {
  const edits = (metadata.managedFields ?? [])
    .filter(({ manager = "", operation, subresource }) => {
      return operation === "Update" && subresource === undefined && !own.has(manager);
    })
    .filter(({ fieldsV1 }) => fields.some(({ path }) => ownsPath(fieldsV1, stepsOf(path))))
    .map(({ manager = "unknown", time }) => ({ manager, atMs: time === undefined ? undefined : Date.parse(time) }))
    .sort((a, b) => (b.atMs ?? 0) - (a.atMs ?? 0));
  return edits[0];
}

function stepsOf(path: string): readonly string[] {
  return [...path.matchAll(/\.([A-Za-z0-9_-]+)|\[(\d+)\]|\["([^"\]]*)"\]/g)].map(
    ([, member, index, quoted]) => member ?? quoted ?? `#${index}`,
  );
}

/** Whether the field set contains the path or a part of it. Items of lists are not distinguished. */
function ownsPath(node: unknown, steps: readonly string[]): boolean {
  if (!isRecord(node)) return false;
  const [step, ...rest] = steps;
  if (step === undefined) return true;
  if (step.startsWith("#")) return Object.entries(node).some(([key, item]) => key !== "." && ownsPath(item, rest));
  const next = node[`f:${step}`];
  if (next === undefined) return false;
  return (isRecord(next) && Object.keys(next).length === 0) || ownsPath(next, rest);
}
