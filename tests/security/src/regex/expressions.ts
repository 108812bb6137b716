import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseAst } from "rolldown/parseAst";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..", "..");

/** A regular expression of the product, with its place. */
export interface Expression {
  readonly pattern: string;
  readonly flags: string;
  readonly place: string;
}

/** Every regular expression literal in the sources of the product. */
export function expressionLiterals(): readonly Expression[] {
  return productFiles().flatMap((file) => {
    const text = readFileSync(path.join(ROOT, file), "utf8");
    return nodesOf(parseAst(text, { lang: "ts" })).flatMap((node) => {
      const regex = node["regex"] as { readonly pattern: string; readonly flags: string } | undefined;
      if (regex === undefined) return [];
      const line = text.slice(0, node["start"] as number).split("\n").length;
      return [{ ...regex, place: `${file}:${line}` }];
    });
  });
}

/** The files that build regular expressions from strings. */
export function filesWithBuiltExpressions(): readonly string[] {
  return productFiles().filter((file) => {
    const nodes = nodesOf(parseAst(readFileSync(path.join(ROOT, file), "utf8"), { lang: "ts" }));
    return nodes.some(({ type, callee }) => {
      const isCall = type === "NewExpression" || type === "CallExpression";
      return isCall && (callee as { readonly name?: string } | undefined)?.name === "RegExp";
    });
  });
}

/** The patterns of the generated contracts: CRDs and OpenAPI. */
export function contractPatterns(): readonly Expression[] {
  const files = globSync(["deploy/crds/*.yaml", "packages/contracts/openapi/*.json"], { cwd: ROOT });
  return files.flatMap((file) =>
    [...readFileSync(path.join(ROOT, file), "utf8").matchAll(/^\s*"?pattern"?: (.*?),?$/gm)].map(
      ([, written = ""]) => ({
        pattern: written.startsWith('"')
          ? (JSON.parse(written) as string)
          : written.replaceAll(/^'|'$/g, "").replaceAll("''", "'"),
        flags: "",
        place: file,
      }),
    ),
  );
}

function productFiles(): readonly string[] {
  return globSync(["packages/*/src/**/*.ts", "apps/*/src/**/*.ts"], { cwd: ROOT })
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => !/\.test\.ts$|\/(testing|gen)\/|^packages\/(testkit|real-components)\//.test(file))
    .toSorted();
}

type Node = Readonly<Record<string, unknown>>;

function nodesOf(root: unknown): Node[] {
  const found: Node[] = [];
  const waiting: unknown[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) waiting.push(...(value as unknown[]));
    else if (typeof value === "object" && value !== null) {
      if ("type" in value) found.push(value);
      waiting.push(...Object.values(value).filter((each) => each !== undefined));
    }
  }
  return found;
}
