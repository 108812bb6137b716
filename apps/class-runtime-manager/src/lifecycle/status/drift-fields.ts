import type { KubeObject } from "@oaas/kube-core";
import { redactMember } from "@oaas/observability/secrets";

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

/** Limits of one correction: it is stored in the status of the class and in an Event. */
const MAX_FIELDS = 8;
const MAX_VALUE_LENGTH = 96;
const MAX_PATH_LENGTH = 256;

const MASKED = "(masked)";
const ABSENT = "(absent)";

type Step = string | number;

/** The rendered fields that a live object lacks or has with another value. */
export function driftFields(live: KubeObject, rendered: KubeObject): DriftFields {
  const found: CorrectedField[] = [];
  let more = 0;
  const report = (steps: readonly Step[], was: unknown, now: unknown): void => {
    if (found.length >= MAX_FIELDS) more += 1;
    else found.push({ path: pathText(steps), was: valueText(live, steps, was), now: valueText(live, steps, now) });
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

/** The length of a list stands for its items, which may contain secrets. */
function itemCount(value: unknown): unknown {
  return Array.isArray(value) ? `${value.length} ${value.length === 1 ? "item" : "items"}` : value;
}

function valueText({ kind }: KubeObject, steps: readonly Step[], value: unknown): string {
  if (value === undefined) return ABSENT;
  if (isSecret(kind, steps)) return MASKED;
  const last = steps.at(-1);
  const shown = typeof last === "string" ? redactMember(last, value) : value;
  const text = JSON.stringify(shown) ?? ABSENT;
  return text.length <= MAX_VALUE_LENGTH ? text : `${text.slice(0, MAX_VALUE_LENGTH - 1)}…`;
}

/** Values of environment variables, and the content of Secrets and ConfigMaps. */
function isSecret(kind: string, steps: readonly Step[]): boolean {
  const [first] = steps;
  const holdsData = (kind === "Secret" || kind === "ConfigMap") && typeof first === "string" && /data$/i.test(first);
  return holdsData || (steps.at(-1) === "value" && steps.at(-3) === "env");
}

function pathText(steps: readonly Step[]): string {
  const text = steps
    .map((step) => {
      if (typeof step === "number") return `[${step}]`;
      return /^[A-Za-z0-9_-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
    })
    .join("");
  return text.length <= MAX_PATH_LENGTH ? text : `${text.slice(0, MAX_PATH_LENGTH - 1)}…`;
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
