import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { isScalar, parseAllDocuments, visit, type Document } from "yaml";
import { WireScalar } from "./wire-scalar.ts";

/** More aliases than this are treated as an attack (billion laughs). */
const MAX_ALIASES = 100;

/**
 * Parses one YAML or JSON document into plain values for the schemas of this package.
 *
 * Rejects an empty text, a second document, duplicate keys, keys that are not scalars and too many aliases, each with a
 * violation. Numbers and booleans keep their source text. Merge keys (`<<`) are resolved.
 */
export function documentFromYaml(text: string): Result<unknown, readonly Violation[]> {
  try {
    return documentIn(text);
  } catch (thrown) {
    // Too many aliases, or nested too deeply for the parser's stack.
    return err([invalidYaml(thrown instanceof Error ? thrown.message : "it cannot be parsed")]);
  }
}

function documentIn(text: string): Result<unknown, readonly Violation[]> {
  const [document, second] = parseAllDocuments(text, { logLevel: "silent", merge: true });
  if (document === undefined) return rejectDocument("is empty", "send one YAML or JSON document");
  if (second !== undefined) return rejectDocument("contains more than one document", "send one document at a time");
  if (document.errors.length > 0) {
    return err(document.errors.map((error) => invalidYaml(error.message)));
  }
  if (!keepWrittenForms(document)) {
    return rejectDocument("has a key that is not a scalar", "use plain strings as keys");
  }
  return ok(document.toJS({ maxAliasCount: MAX_ALIASES }));
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

/** Clearer messages for errors that the parser reports in its own terms. */
const PARSER_ERRORS: readonly { readonly about: RegExp; readonly message: string; readonly fix: string }[] = [
  { about: /^Maximum call stack/, message: "is nested too deeply", fix: "reduce the nesting" },
  {
    about: /^Excessive alias count/,
    message: "expands to too many aliases",
    fix: "replace aliases with their values, or use fewer",
  },
];

/** Keeps the first line of the parser's message; the following lines are an excerpt of the source. */
function invalidYaml(message: string): Violation {
  const known = PARSER_ERRORS.find(({ about }) => about.test(message));
  if (known !== undefined) return { path: ROOT_PATH, message: known.message, fix: known.fix };
  const [line = ""] = message.split("\n", 1);
  return {
    path: ROOT_PATH,
    message: `is not valid YAML: ${line.replace(/:$/, "")}`,
    fix: "fix the syntax at that position",
  };
}
