import { UsageError } from "../exit-code.ts";

/** One part of a template: text to copy, a path to evaluate, or a loop over the values of a path. */
type Part =
  | { readonly text: string }
  | { readonly path: string }
  | { readonly range: string; readonly body: readonly Part[] };

const BRACES = /\{((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^{}"'])*)\}/g;

/**
 * Evaluates a template such as `{.items[*].key}` or `{range .items[*]}{.key}{"\n"}{end}`: the values of a path are joined
 * with spaces, other text is copied. Supports kubectl's JSONPath; a template without braces is one path.
 */
export function jsonPathText(template: string, document: unknown): string {
  rejectUnbalanced(template);
  const whole = template.includes("{") ? template : `{${template.startsWith(".") ? "" : "."}${template}}`;
  return evaluate(parseTemplate(whole), document, document);
}

/** The values that a path selects. */
export function jsonPathValues(path: string, document: unknown): readonly unknown[] {
  const bare = path.replace(/^\{(.*)\}$/s, "$1").trim();
  return valuesAt(/^[.[$]/.test(bare) ? bare : `.${bare}`, document, document);
}

/** A value as text: strings without quotes, everything else as JSON. */
export function jsonPathValueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Rejects empty templates and unbalanced braces, which would otherwise be printed as a result. */
function rejectUnbalanced(template: string): void {
  if (template.trim() === "") throw invalidTemplate("template is empty");
  if (/[{}]/.test(template.replaceAll(BRACES, ""))) throw invalidTemplate(`"${template}" has unbalanced braces`);
}

function invalidTemplate(what: string): UsageError {
  return new UsageError(`jsonpath ${what}`, "use a template such as jsonpath={.name} or jsonpath='{.items[*].key}'");
}

function parseTemplate(template: string): readonly Part[] {
  const open: { readonly range: string; readonly body: Part[] }[] = [{ range: "", body: [] }];
  const add = (part: Part): void => void open.at(-1)?.body.push(part);
  let at = 0;
  for (const match of template.matchAll(BRACES)) {
    if (match.index > at) add({ text: template.slice(at, match.index) });
    at = match.index + match[0].length;
    const inner = (match[1] ?? "").trim();
    const range = /^range\s+(?<path>.*)$/s.exec(inner)?.groups?.["path"];
    if (range !== undefined) open.push({ range, body: [] });
    else if (inner !== "end") add(parseExpression(inner));
    else {
      const closed = open.length > 1 ? open.pop() : undefined;
      if (closed === undefined) throw invalidTemplate(`"${template}" has an end without a range`);
      add(closed);
    }
  }
  if (open.length > 1) throw invalidTemplate(`"${template}" has a range without an end`);
  return [...(open[0]?.body ?? []), { text: template.slice(at) }];
}

function parseExpression(text: string): Part {
  const quoted = /^"(?<text>(?:[^"\\]|\\.)*)"$/.exec(text)?.groups?.["text"];
  return quoted === undefined ? { path: text } : { text: JSON.parse(`"${quoted}"`) as string };
}

function evaluate(parts: readonly Part[], document: unknown, root: unknown): string {
  return parts
    .map((part) => {
      if ("text" in part) return part.text;
      if ("path" in part) return valuesAt(part.path, document, root).map(jsonPathValueText).join(" ");
      return valuesAt(part.range, document, root)
        .map((value) => evaluate(part.body, value, root))
        .join("");
    })
    .join("");
}

const STEP =
  /\.\.(?<deep>[\w-]+)|\.(?<name>(?:[\w-]|\\.)+)|\.(?<all>\*)|\['(?<quoted>[^']*)'\]|\[(?<index>-?\d+)\]|\[(?<from>-?\d*):(?<to>-?\d*)\]|\[(?<every>\*)\]|\[\?\((?<filter>[^)]+)\)\]/y;

function valuesAt(path: string, document: unknown, root: unknown): readonly unknown[] {
  let values: readonly unknown[] = [path.startsWith("$") ? root : document];
  let at = /^[$@]/.test(path) ? 1 : 0;
  while (at < path.length) {
    if (path.slice(at) === ".") return values;
    STEP.lastIndex = at;
    const match = STEP.exec(path);
    if (!match?.groups) {
      throw new UsageError(
        `jsonpath "${path}" is invalid at "${path.slice(at)}"`,
        "use paths such as {.name}, {.clusters[*].cluster} or {.items[?(@.class_key=='Order')].key}",
      );
    }
    at += match[0].length;
    const step = stepOf(match.groups);
    values = values.flatMap(step);
  }
  return values;
}

function stepOf(groups: Readonly<Record<string, string | undefined>>): (value: unknown) => readonly unknown[] {
  const { deep, name, quoted, index, from, to, filter } = groups;
  if (deep !== undefined) return (value) => descendants(value, deep);
  if (filter !== undefined) return parseFilter(filter);
  if (from !== undefined || to !== undefined) {
    const [start, end] = [from, to].map((text) => (text ? Number(text) : undefined));
    return (value) => (Array.isArray(value) ? (value.slice(start, end) as unknown[]) : []);
  }
  const key = name?.replaceAll(/\\(.)/g, "$1") ?? quoted ?? (index === undefined ? undefined : Number(index));
  return (value) => stepInto(value, key);
}

function stepInto(value: unknown, key: string | number | undefined): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (key === undefined) return Object.values(value);
  if (Array.isArray(value) && typeof key === "number") {
    const item: unknown = value.at(key);
    return item === undefined ? [] : [item];
  }
  return Object.hasOwn(value, key) ? [(value as Record<string | number, unknown>)[key]] : [];
}

function descendants(value: unknown, name: string): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return [...stepInto(value, name), ...Object.values(value).flatMap((inner) => descendants(inner, name))];
}

const FILTER = /^(?<path>@[^=!<>\s]*)\s*(?:(?<operator>==|!=|<=|>=|<|>)\s*(?<value>"[^"]*"|'[^']*'|\S+))?$/;

/** The items of a list, or the values of a map, for which a condition such as `@.phase=="Ready"` holds. */
function parseFilter(text: string): (value: unknown) => readonly unknown[] {
  const { path = "", operator, value = "" } = FILTER.exec(text.trim())?.groups ?? {};
  if (path === "")
    throw new UsageError(`jsonpath filter "${text}" is invalid`, "use a filter such as ?(@.phase=='Ready')");
  const expected = value.replace(/^"(.*)"$|^'(.*)'$/, "$1$2");
  const holds = (found: unknown): boolean =>
    operator === undefined || compare(jsonPathValueText(found), operator, expected);
  return (list) => stepInto(list, undefined).filter((item) => valuesAt(path, item, item).some(holds));
}

/** Compares numbers as numbers, everything else as text. */
function compare(left: string, operator: string, right: string): boolean {
  const [a, b] = [Number(left), Number(right)];
  const areNumbers = left !== "" && right !== "" && !Number.isNaN(a) && !Number.isNaN(b);
  const order = areNumbers ? a - b : left < right ? -1 : left > right ? 1 : 0;
  switch (operator) {
    case "==":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    default:
      return order >= 0;
  }
}
