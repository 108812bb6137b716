import { ROOT_PATH, type Violation } from "../faults/violation.ts";

/** Limits of a document from outside. They bound the work of everything that reads it afterwards. */
export interface DocumentLimits {
  /** Values in the document: objects, lists and scalars. */
  readonly nodes: number;
  /** Objects and lists inside each other. Recursive readers rely on it. */
  readonly depth: number;
}

/** Limits of request bodies. A package of 1,000 functions with every field set has about 30,000 nodes and 6 levels. */
export const REQUEST_LIMITS: DocumentLimits = { nodes: 50_000, depth: 100 };

/** The violation of a document that is nested too deeply. */
export function tooDeep(depth: number): Violation {
  return { path: ROOT_PATH, message: `is nested too deeply: more than ${depth} levels`, fix: "reduce the nesting" };
}

/** The violation of a document with too many values. */
export function tooManyNodes(nodes: number): Violation {
  return {
    path: ROOT_PATH,
    message: `has more than ${nodes} values`,
    fix: "split it into several documents, or shorten its lists",
  };
}

/**
 * Checks a parsed document against its limits. It counts a part that is referenced twice (by a YAML alias) twice, as
 * every reader visits it twice, and stops at the first violation.
 */
export function findDocumentProblem(document: unknown, limits: DocumentLimits): Violation | undefined {
  let level: readonly object[] = isBranch(document) ? [document] : [];
  let nodes = 1;
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > limits.depth) return tooDeep(limits.depth);
    const below: object[] = [];
    for (const branch of level) {
      for (const child of childrenOf(branch)) {
        nodes += 1;
        if (nodes > limits.nodes) return tooManyNodes(limits.nodes);
        if (isBranch(child)) below.push(child);
      }
    }
    level = below;
  }
  return undefined;
}

/** Whether the value is a list or a plain object. Instances of classes are scalars. */
function isBranch(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function childrenOf(branch: object): readonly unknown[] {
  return Array.isArray(branch) ? branch : Object.values(branch);
}
