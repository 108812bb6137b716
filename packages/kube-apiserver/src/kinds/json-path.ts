import { isJsonArray, isJsonObject, type JsonValue } from "@oaas/kube-core";

/** One step: a member, an item, every item, or the items that match a condition. */
type Step =
  | { readonly member: string }
  | { readonly index: number }
  | { readonly each: true }
  | { readonly path: readonly Step[]; readonly equals: JsonValue };

const STEP =
  /\.([A-Za-z0-9_$-]+|\*)|\[(-?\d+)\]|\[\*\]|\['((?:[^'\\]|\\.)*)'\]|\[\?\(@((?:\.[A-Za-z0-9_-]+)+)\s*==\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s)\]][^)\]]*)\)\]/y;

/** Parses a simple JSON path, as in printer columns; undefined when invalid. */
export function parseJsonPath(text: string): readonly Step[] | undefined {
  const path = text.replaceAll(String.raw`\.`, "\u0000");
  const steps: Step[] = [];
  let at = 0;
  while (at < path.length) {
    STEP.lastIndex = at;
    const match = STEP.exec(path);
    if (match === null) return undefined;
    // Before the step is parsed: a condition inside it uses the same pattern.
    at = STEP.lastIndex;
    steps.push(stepOf(match));
  }
  return steps.length === 0 ? undefined : steps;
}

function stepOf([whole, member, index, quoted, condition, value]: RegExpExecArray): Step {
  const name = member ?? quoted;
  if (whole === "[*]" || name === "*") return { each: true };
  if (name !== undefined) return { member: name.replaceAll("\u0000", ".").replaceAll(/\\(.)/g, "$1") };
  if (index !== undefined) return { index: Number(index) };
  return { path: parseJsonPath(condition ?? "") ?? [], equals: literalOf(value ?? "") };
}

function literalOf(text: string): JsonValue {
  const plain = text.trim();
  if (/^['"]/.test(plain)) return plain.slice(1, -1).replaceAll("\u0000", ".");
  if (plain === "true" || plain === "false") return plain === "true";
  return Number.isNaN(Number(plain)) ? plain : Number(plain);
}

/** The first value at a path, or undefined. */
export function jsonPathText(value: JsonValue, path: string): JsonValue | undefined {
  const steps = parseJsonPath(path);
  return steps === undefined ? undefined : evaluateStep(value, steps)[0];
}

function evaluateStep(value: JsonValue | undefined, [step, ...rest]: readonly Step[]): readonly JsonValue[] {
  if (value === undefined) return [];
  if (step === undefined) return [value];
  return evaluateNext(value, step).flatMap((one) => evaluateStep(one, rest));
}

function evaluateNext(value: JsonValue, step: Step): readonly JsonValue[] {
  if ("member" in step) {
    const member = isJsonObject(value) && Object.hasOwn(value, step.member) ? value[step.member] : undefined;
    return member === undefined ? [] : [member];
  }
  if ("index" in step) {
    const item = isJsonArray(value) ? value.at(step.index) : undefined;
    return item === undefined ? [] : [item];
  }
  const items = isJsonArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
  return "each" in step ? items : items.filter((item) => evaluateStep(item, step.path).includes(step.equals));
}
