import { Composer, isScalar, Lexer, LineCounter, Parser, visit, type CST, type Document } from "yaml";
import { findDocumentProblem } from "../documents/document-limits.ts";
import { describeSyntaxErrors, type SyntaxProblem } from "./syntax-problem.ts";
import {
  LimitExceeded,
  TOO_MANY_ALIASES,
  tooDeepAt,
  tooLong,
  tooManyAliases,
  tooManyDocuments,
  tooManyTokens,
  YAML_REQUEST_LIMITS,
  type YamlLimits,
} from "./yaml-limits.ts";

/** One problem of a YAML text. */
export interface YamlProblem {
  readonly offset: number;
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly fix: string;
}

/** One document of a text: composed, or with its problems. */
export interface YamlDocument {
  readonly document: Document.Parsed;
  readonly problems: readonly YamlProblem[];
}

/** The documents of a text; a text beyond its limits has none and one problem. */
export interface ParsedYaml {
  readonly documents: readonly YamlDocument[];
  readonly exceeded?: YamlProblem;
  readonly lines: LineCounter;
}

export interface YamlOptions {
  readonly limits?: YamlLimits;
  /** By default YAML 1.2. Kubernetes reads YAML 1.1. */
  readonly schema?: "core" | "yaml-1.1";
  /** Whether a duplicate key is accepted, and the last one wins. */
  readonly allowDuplicates?: boolean;
}

/** Further syntax errors of a text are not collected. */
const MAX_ERRORS = 20;

/**
 * Parses YAML from outside in time proportional to its length.
 *
 * Size, tokens, depth, aliases and documents are checked while the text is read and before values are built. Duplicate
 * keys are found with a set; the parser's own check compares each key with all others.
 */
export function parseYaml(text: string, options: YamlOptions = {}): ParsedYaml {
  const { limits = YAML_REQUEST_LIMITS } = options;
  const lines = new LineCounter();
  try {
    const documents: YamlDocument[] = [];
    for (const document of composeDocuments(text, options, limits, lines)) {
      documents.push({ document, problems: problemsOf(document, lines, options) });
    }
    return { documents, lines };
  } catch (thrown) {
    if (thrown instanceof LimitExceeded) return { documents: [], exceeded: placed(thrown, lines), lines };
    throw thrown;
  }
}

/** Parses a text with one document; an empty text is null. Problems have their position in the message. */
export function parseYamlValue(text: string, options: YamlOptions = {}): YamlValue {
  const limits = { ...(options.limits ?? YAML_REQUEST_LIMITS), documents: 1 };
  const { documents, exceeded } = parseYaml(text, { ...options, limits });
  const [first] = documents;
  const problem = exceeded ?? first?.problems[0];
  if (problem !== undefined) {
    const { message, line, column, fix } = problem;
    return { ok: false, message: `${message} at line ${line}, column ${column}`, fix };
  }
  return first === undefined ? { ok: true, value: null } : yamlValue(first.document, limits);
}

/** Builds the values of a composed document, or returns why it expands to too many. */
export function yamlValue(document: Document.Parsed, limits: YamlLimits = YAML_REQUEST_LIMITS): YamlValue {
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: limits.aliases }) as unknown;
  } catch (thrown) {
    const { message } = thrown as Error;
    if (message.startsWith("Excessive alias count")) return { ok: false, ...TOO_MANY_ALIASES };
    return { ok: false, message: `is not valid YAML: ${firstLine(message)}`, fix: "fix the alias or the merge key" };
  }
  const problem = findDocumentProblem(value, limits);
  if (problem === undefined) return { ok: true, value };
  return { ok: false, message: problem.message, fix: problem.fix ?? "" };
}

/** The values of a document, or why it has none. */
export type YamlValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly fix: string };

function* composeDocuments(
  text: string,
  { schema = "core" }: YamlOptions,
  limits: YamlLimits,
  lines: LineCounter,
): Generator<Document.Parsed> {
  const composer = createComposer(schema);
  let documents = 0;
  let errors = 0;
  for (const token of boundedTokens(text, limits, lines)) {
    if (token.type === "document") documents += 1;
    if (documents > limits.documents) throw tooManyDocuments(token.offset, limits.documents);
    if (token.type === "error") errors += 1;
    if (errors <= MAX_ERRORS) yield* composer.next(token);
  }
  yield* composer.end();
}

/** A composer that keeps the first errors and no warnings: each costs more than the rest of the parser. */
function createComposer(schema: string): Composer {
  const composer = new Composer({ logLevel: "silent", merge: true, prettyErrors: false, schema, uniqueKeys: false });
  const keepError = composer["onError"] as ErrorHandler;
  let errors = 0;
  const keepFirst: ErrorHandler = (source, code, message, isWarning) => {
    if (isWarning === true) return;
    errors += 1;
    if (errors <= MAX_ERRORS) keepError(source, code, message);
  };
  composer["onError"] = keepFirst;
  return composer;
}

type ErrorHandler = (source: unknown, code: string, message: string, isWarning?: boolean) => void;

/** The scalar that follows in the text. Its own text may begin with any character. */
const SCALAR_FOLLOWS = "\u001f";

/** Lexes and parses the text as long as it stays within its limits. */
function* boundedTokens(text: string, limits: YamlLimits, lines: LineCounter): Generator<CST.Token> {
  lines.addNewLine(0);
  if (text.length > limits.characters) throw tooLong(limits.characters);
  const parser = new Parser(lines.addNewLine);
  let tokens = 0;
  let aliases = 0;
  let previous = "";
  for (const lexeme of new Lexer().lex(text)) {
    tokens += 1;
    if (lexeme.startsWith("*") && previous !== SCALAR_FOLLOWS) aliases += 1;
    if (tokens > limits.tokens) throw tooManyTokens(parser.offset, limits.tokens);
    if (aliases > limits.aliases) throw tooManyAliases(parser.offset);
    yield* parser.next(lexeme);
    if (parser.stack.length > limits.depth + OUTER_LEVELS) throw tooDeepAt(parser.offset, limits.depth);
    previous = lexeme;
  }
  yield* parser.end();
}

/** The parser's stack also holds the document and the scalar at hand. */
const OUTER_LEVELS = 2;

function problemsOf(document: Document.Parsed, lines: LineCounter, options: YamlOptions): readonly YamlProblem[] {
  const errors = describeSyntaxErrors(document.errors);
  const duplicates = options.allowDuplicates === true || errors.length > 0 ? [] : duplicateKeys(document, lines);
  const problems = [...errors, ...duplicates].map((problem) => placed(problem, lines));
  // Further errors of a line are consequences of its first one.
  return problems.filter(({ line }, index) => problems.findIndex((each) => each.line === line) === index);
}

interface Problem extends SyntaxProblem {
  readonly offset: number;
}

function duplicateKeys(document: Document.Parsed, lines: LineCounter): readonly Problem[] {
  const found: Problem[] = [];
  visit(document, {
    Map(_, { items }) {
      const offsets = new Map<unknown, number>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const offset = key.range?.[0] ?? 0;
        const first = offsets.get(key.value);
        if (first === undefined) offsets.set(key.value, offset);
        else if (found.length < MAX_ERRORS) {
          const { line, col } = lines.linePos(first);
          const message = `the key "${String(key.value)}" is repeated (first at line ${line}, column ${col})`;
          found.push({ offset, message, fix: "remove or rename one of them" });
        }
      }
    },
  });
  return found;
}

function placed({ offset, message, fix }: Problem, lines: LineCounter): YamlProblem {
  const { line, col } = lines.linePos(offset);
  return { offset, line, column: col, message, fix };
}

function firstLine(message: string): string {
  return message.split("\n", 1)[0] ?? "";
}
