import { err, ok, pathOf, ROOT_PATH, violationsUnder, type Result, type Violation } from "@oaas/foundation";
import { invalid, type Kind } from "./kind.ts";
import { stringKind } from "./scalar-kinds.ts";

/** Values separated by commas. Surrounding spaces and empty items are ignored. */
export function listKind<T = string>(of?: Kind<T, never>): Kind<readonly T[]> {
  const item = of ?? (stringKind() as unknown as Kind<T, never>);
  return {
    label: of === undefined ? "comma-separated list" : `comma-separated list of ${item.label}`,
    echo: item.echo,
    written: "list",
    parse: (text) => {
      const values: T[] = [];
      const violations: Violation[] = [];
      for (const [index, part] of splitItems(text).entries()) {
        const parsed = item.parse(part);
        if (parsed.ok) values.push(parsed.value);
        else violations.push(...violationsUnder(pathOf(ROOT_PATH, index), parsed.error));
      }
      return violations.length > 0 ? err(violations) : ok(values);
    },
    show: (values) => values.map((value) => item.show(value)).join(","),
    fromDefault: (written) => written,
  };
}

/** `key=value` pairs separated by commas. */
export function keyValuesKind(): Kind<Readonly<Record<string, string>>> {
  return {
    label: "comma-separated list of key=value",
    echo: true,
    written: "mapping",
    parse: (text) => {
      const pairs = new Map<string, string>();
      for (const part of splitItems(text)) {
        const at = part.indexOf("=");
        const key = part.slice(0, at).trim();
        if (at < 0 || key === "") return invalid("must be key=value pairs separated by commas");
        if (pairs.has(key)) return invalid(`has the key "${key}" twice`);
        pairs.set(key, part.slice(at + 1).trim());
      }
      return ok(Object.fromEntries(pairs));
    },
    show: (value) =>
      Object.entries(value)
        .map(([key, part]) => `${key}=${part}`)
        .join(","),
    fromDefault: (written) => written,
  };
}

/**
 * A JSON document that passes the given check. An invalid text is never printed, because it may contain secrets. For
 * the same reason the messages of the check must name members and not quote values.
 */
export function jsonKind<T>(label: string, check: (value: unknown) => Result<T, readonly Violation[]>): Kind<T> {
  return {
    label: `JSON: ${label}`,
    echo: false,
    written: "document",
    parse: (text) => {
      const parsed = parseJson(text);
      return parsed.ok ? check(parsed.value) : parsed;
    },
    show: (value) => JSON.stringify(value),
    fromDefault: (written) => written,
  };
}

function parseJson(text: string): Result<unknown, readonly Violation[]> {
  try {
    return ok(JSON.parse(text) as unknown);
  } catch (thrown) {
    // The message of the parser quotes the document; only the position is safe to print.
    const position = /position (\d+)/.exec(String(thrown))?.[1];
    return invalid(`must be JSON${position === undefined ? "" : `; syntax error at character ${position}`}`);
  }
}

function splitItems(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
