import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { parseYaml, yamlValue, type YamlProblem } from "@oaas/foundation/yaml";
import { isScalar, visit, type Document } from "yaml";
import { WireScalar } from "./wire-scalar.ts";

/**
 * Parses one YAML or JSON document into plain values for the schemas of this package.
 *
 * Rejects an empty text, a second document, duplicate keys, keys that are not scalars and a text beyond its limits, each
 * with a violation. Numbers and booleans keep their source text. Merge keys (`<<`) are resolved.
 */
export function documentFromYaml(text: string): Result<unknown, readonly Violation[]> {
  const { documents, exceeded } = parseYaml(text);
  if (exceeded !== undefined) return rejectDocument(`${exceeded.message} ${positionOf(exceeded)}`, exceeded.fix);
  const [first] = documents;
  if (first === undefined) return rejectDocument("is empty", "send one YAML or JSON document");
  if (first.problems.length > 0) return err(first.problems.map(invalidYaml));
  if (!keepWrittenForms(first.document)) {
    return rejectDocument("has a key that is not a scalar", "use plain strings as keys");
  }
  const read = yamlValue(first.document);
  return read.ok ? ok(read.value) : rejectDocument(read.message, read.fix);
}

function keepWrittenForms(document: Document): boolean {
  let everyKeyIsScalar = true;
  visit(document, {
    Pair(_, pair) {
      everyKeyIsScalar &&= isScalar(pair.key);
    },
    Scalar(place, node) {
      const { value, source } = node;
      if (source === undefined || (typeof value !== "number" && typeof value !== "boolean")) return;
      if (place === "key") node.value = source;
      else node.value = new WireScalar(value, source);
    },
  });
  return everyKeyIsScalar;
}

function rejectDocument(message: string, fix: string): Result<never, readonly Violation[]> {
  return err([{ path: ROOT_PATH, message, fix }]);
}

function invalidYaml(problem: YamlProblem): Violation {
  return {
    path: ROOT_PATH,
    message: `is not valid YAML: ${problem.message} ${positionOf(problem)}`,
    fix: problem.fix,
  };
}

function positionOf({ line, column }: YamlProblem): string {
  return `at line ${line}, column ${column}`;
}
