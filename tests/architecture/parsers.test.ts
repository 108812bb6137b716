import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { ROOT, sourceFiles } from "./sources.ts";

/** The parser's check of duplicate keys takes quadratic time, and nothing in it is bounded. */
const PARSER = /import \{([^}]*)\} from "yaml"/g;
const PARSING = /\b(?:parse|parseDocument|parseAllDocuments|Parser|Composer|Lexer)\b/;

test("only @oaas/foundation/yaml calls the YAML parser: it bounds size, depth and aliases", () => {
  const product = sourceFiles().filter(
    (file) => file.includes("/src/") && !/\.test\.ts$|\/testing\/|^packages\/testkit\//.test(file),
  );
  const calling = product.filter((file) => {
    const text = readFileSync(path.join(ROOT, file), "utf8");
    return [...text.matchAll(PARSER)].some(([, names = ""]) => PARSING.test(names));
  });
  expect(calling).toEqual(["packages/foundation/src/yaml/parse-yaml.ts"]);
});
