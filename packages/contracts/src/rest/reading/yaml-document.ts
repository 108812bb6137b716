import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { isScalar, parseAllDocuments, visit, type Document } from "yaml";
import { WireScalar } from "./wire-scalar.ts";

/** Aliases repeat what they name; more repetitions than this are an attack, not a document. */
const MAX_ALIASES = 100;

/**
 * Reads one YAML document (JSON is YAML too) into plain values for the schemas of this package.
 *
 * Guarantees: every problem is a violation that says where; an empty text, a second document, a duplicate key, a key
 * that is no scalar and an explosion of aliases are refused; numbers and booleans keep their written form. What `<<` names is taken over,
 * as users of anchors expect; it would be lost without a word otherwise.
 */
export function documentFromYaml(text: string): Result<unknown, readonly Violation[]> {
  try {
    return documentIn(text);
  } catch (thrown) {
    // Too many aliases, or nested so deeply that the parser's stack ends.
    return err([invalidYaml(thrown instanceof Error ? thrown.message : "it cannot be parsed")]);
  }
}

function documentIn(text: string): Result<unknown, readonly Violation[]> {
  const [document, second] = parseAllDocuments(text, { logLevel: "silent", merge: true });
  if (document === undefined) return refused("is empty", "send one YAML or JSON document");
  if (second !== undefined) return refused("contains more than one document", "send one document at a time");
  if (document.errors.length > 0) {
    return err(document.errors.map((error) => invalidYaml(error.message)));
  }
  if (!keepWrittenForms(document)) {
    return refused("has a key that is not a scalar", "use plain strings as keys");
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

function refused(message: string, fix: string): Result<never, readonly Violation[]> {
  return err([{ path: ROOT_PATH, message, fix }]);
}

/** What the parser has no words for that its user would know. */
const OWN_WORDS: readonly { readonly about: RegExp; readonly message: string; readonly fix: string }[] = [
  { about: /^Maximum call stack/, message: "is nested too deeply", fix: "reduce the nesting" },
  {
    about: /^Excessive alias count/,
    message: "expands to too many aliases",
    fix: "replace aliases with their values, or use fewer",
  },
];

/** The parser's message is its first line; a picture of the place follows, which a log or a form cannot show. */
function invalidYaml(message: string): Violation {
  const own = OWN_WORDS.find(({ about }) => about.test(message));
  if (own !== undefined) return { path: ROOT_PATH, message: own.message, fix: own.fix };
  const [line = ""] = message.split("\n", 1);
  return {
    path: ROOT_PATH,
    message: `is not valid YAML: ${line.replace(/:$/, "")}`,
    fix: "fix the syntax at that position",
  };
}
