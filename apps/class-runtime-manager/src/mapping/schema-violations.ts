import { violationsFromZod } from "@oaas/contracts/rest/violations";
import { MAX_VIOLATIONS, omittedViolations, pathOf, type Violation } from "@oaas/foundation";
import {
  BINDING_NAME,
  CLUSTER_NAME,
  COLLECTION_NAME,
  FUNCTION_KEY,
  IMAGE_REFERENCE,
  MODULE_URL,
  RESOURCE_QUANTITY,
  TEMPLATE_NAME,
  type TextRule,
} from "@oaas/models";

/** A schema error of Zod. */
export type SchemaError = Parameters<typeof violationsFromZod>[0];

/** A path of member names and indexes. */
export type Path = readonly (string | number)[];

/** Domain rules by member name; their messages are clearer than those of a pattern. */
const RULES: Readonly<Record<string, TextRule>> = {
  cpu_request: RESOURCE_QUANTITY,
  cpu_limit: RESOURCE_QUANTITY,
  memory_request: RESOURCE_QUANTITY,
  memory_limit: RESOURCE_QUANTITY,
  storage_request: RESOURCE_QUANTITY,
  container_image: IMAGE_REFERENCE,
  image: IMAGE_REFERENCE,
  wasm_module_url: MODULE_URL,
  function_key: FUNCTION_KEY,
  name: BINDING_NAME,
  collections: COLLECTION_NAME,
  selected_template: TEMPLATE_NAME,
  template_hint: TEMPLATE_NAME,
  target_environment: CLUSTER_NAME,
  target_env: CLUSTER_NAME,
  addons: CLUSTER_NAME,
};

/**
 * Converts a schema error to violations of the document that the parsed one was created from. `relocate` maps paths;
 * each path is reported once, and violations beyond the first hundred are counted only.
 */
export function schemaViolations(error: SchemaError, base: string, relocate: (path: Path) => Path): Violation[] {
  const violations = new Map<string, Violation>();
  const issues = error.issues.slice(0, MAX_VIOLATIONS);
  const converted = violationsFromZod({ issues });
  for (const [index, issue] of issues.entries()) {
    const keys = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
    const path = pathOf(base, ...relocate(keys));
    const general = converted[index];
    const violation = { path, ...(ruleViolation(keys, issue.input) ?? withoutPath(general)) };
    if (!violations.has(path)) violations.set(path, violation);
  }
  const omitted = error.issues.length - issues.length;
  return [...violations.values(), ...(omitted > 0 ? [omittedViolations(omitted)] : [])];
}

function ruleViolation(keys: Path, input: unknown): Omit<Violation, "path"> | undefined {
  const member = keys.findLast((key) => typeof key === "string");
  if (typeof member !== "string" || typeof input !== "string") return undefined;
  return Object.hasOwn(RULES, member) ? RULES[member]?.findProblem(input) : undefined;
}

function withoutPath(violation: Violation | undefined): Omit<Violation, "path"> {
  if (violation === undefined) return { message: "is not valid" };
  const { path: _, ...rest } = violation;
  return rest;
}
