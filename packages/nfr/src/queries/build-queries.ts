import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import { SIGNALS, type Signal } from "../samples.ts";
import { promqlDuration, quoteAlternatives } from "./promql-text.ts";
import { QUERY_TEMPLATES, type NamingScheme, type QueryTemplate } from "./templates.ts";

/** Templates that replace the default ones. */
export type QueryOverrides = Readonly<Partial<Record<Signal, QueryTemplate>>>;

/** What the queries of a tick select. */
export interface QueryScope {
  readonly namespaces: readonly string[];
  /** The window of rates: at least four times the scrape interval. */
  readonly windowMs: number;
}

/** The query of one signal, for all classes of the namespaces. */
export function buildQuery(
  signal: Signal,
  scope: QueryScope,
  scheme: NamingScheme,
  overrides: QueryOverrides = {},
): string {
  return fillTemplate(templateOf(signal, scheme, overrides), scope);
}

/** The template of a signal. */
export function templateOf(signal: Signal, scheme: NamingScheme, overrides: QueryOverrides = {}): QueryTemplate {
  return overrides[signal] ?? QUERY_TEMPLATES[scheme][signal];
}

/** The query of a template. */
export function fillTemplate(template: QueryTemplate, scope: QueryScope): string {
  return template
    .replaceAll("$namespaces", () => quoteAlternatives(scope.namespaces))
    .replaceAll("$window", () => promqlDuration(scope.windowMs));
}

const PLACEHOLDERS = new Set(["$namespaces", "$window"]);
const MAX_TEMPLATE_LENGTH = 8_192;

/** What is wrong with overrides from outside: a map from signal to template. */
export function findOverrideProblems(overrides: unknown): readonly Violation[] {
  if (typeof overrides !== "object" || overrides === null || Array.isArray(overrides)) {
    const fix = 'write for example {"requests_per_second": "sum by (namespace, oaas_owner) (rate(…))"}';
    return [{ path: ROOT_PATH, message: "is not a map from signal to query", fix }];
  }
  return Object.entries(overrides).flatMap(([signal, template]) => {
    const path = pathOf(ROOT_PATH, signal);
    if (!SIGNALS.some((known) => known === signal)) {
      return [{ path, message: "is not a signal", fix: `use one of ${SIGNALS.join(", ")}` }];
    }
    return findTemplateProblems(template).map((problem) => ({ path, ...problem }));
  });
}

/** What is wrong with one template. */
function findTemplateProblems(template: unknown): readonly Omit<Violation, "path">[] {
  if (typeof template !== "string" || template.trim() === "") {
    return [{ message: "is not a query", fix: "write a PromQL expression" }];
  }
  if (template.length > MAX_TEMPLATE_LENGTH) {
    return [{ message: `is longer than ${MAX_TEMPLATE_LENGTH} characters`, fix: "use a recording rule" }];
  }
  const unknown = [...template.matchAll(/\$\w*/g)].map(([name]) => name).filter((name) => !PLACEHOLDERS.has(name));
  return [
    ...unknown.map((name) => ({
      message: `has the unknown placeholder ${name}`,
      fix: "use $namespaces and $window only",
    })),
    ...(template.includes("$namespaces")
      ? []
      : [{ message: "does not select namespaces", fix: "add a matcher such as namespace=~$namespaces" }]),
    ...findUnbalanced(template),
  ];
}

const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Brackets and quotes that do not match. The grammar itself is checked by the server. */
function findUnbalanced(template: string): readonly Omit<Violation, "path">[] {
  const open: string[] = [];
  for (let at = 0; at < template.length; at += 1) {
    const char = template.charAt(at);
    if (char === '"' || char === "'" || char === "`") {
      at = endOfString(template, at, char);
      if (at === -1) return [{ message: `has an unclosed ${char}`, fix: "close the text" }];
    } else if (CLOSING[char] !== undefined) open.push(CLOSING[char]);
    else if (/[)\]}]/.test(char) && open.pop() !== char) {
      return [{ message: `has a ${char} that nothing opens`, fix: "balance the brackets" }];
    }
  }
  return open.length === 0 ? [] : [{ message: `lacks a closing ${open.at(-1)}`, fix: "balance the brackets" }];
}

/** The position of the closing quote, or -1. Backquotes have no escapes. */
function endOfString(text: string, opening: number, quote: string): number {
  for (let at = opening + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === "\\" && quote !== "`") at += 1;
    else if (char === quote) return at;
  }
  return -1;
}
