import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseAst } from "rolldown/parseAst";

/** A node of a syntax tree. */
export interface SyntaxNode {
  readonly type: string;
  readonly [part: string]: unknown;
}

/** The syntax nodes of matching source files that contain a word, by file; parsing all files would take seconds. */
export function nodesWith(root: string, patterns: readonly string[], word: string): Map<string, SyntaxNode[]> {
  const files = globSync(patterns, { cwd: root })
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => !/\.test\.ts$|\/testing\/|\/gen\//.test(file))
    .filter((file) => readFileSync(path.join(root, file), "utf8").includes(word));
  return new Map(files.map((file) => [file, nodesOf(path.join(root, file))]));
}

/** Every node of a TypeScript file, parents before children. */
export function nodesOf(file: string): SyntaxNode[] {
  return nodesIn(readFileSync(file, "utf8"));
}

/** Every node of a TypeScript text, parents before children. */
export function nodesIn(text: string): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isNode(value)) return;
    found.push(value);
    for (const [name, part] of Object.entries(value)) if (name !== "parent") visit(part);
  };
  visit(parseAst(text, { lang: "ts" }));
  return found;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** The value of a property of an object literal; undefined if absent. */
export function memberOf(literal: unknown, name: string): SyntaxNode | undefined {
  if (!isNode(literal) || literal.type !== "ObjectExpression") return undefined;
  const members = literal["properties"] as readonly SyntaxNode[];
  const member = members.find((each) => each.type === "Property" && nameOf(each["key"]) === name);
  return member?.["value"] as SyntaxNode | undefined;
}

/** The name of an identifier or the value of a string literal. */
export function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "Identifier") return String(node["name"]);
  return textOf(node);
}

/** The value of a string literal; undefined for anything else. */
export function textOf(node: unknown): string | undefined {
  return isNode(node) && node.type === "Literal" && typeof node["value"] === "string" ? node["value"] : undefined;
}

/** The items of a list of string literals; undefined for anything else. */
export function textsOf(node: unknown): string[] | undefined {
  if (!isNode(node) || node.type !== "ArrayExpression") return undefined;
  const texts = (node["elements"] as readonly unknown[]).map(textOf);
  return texts.every((text) => text !== undefined) ? texts : undefined;
}
