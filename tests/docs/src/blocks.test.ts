import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { allPages } from "./pages.ts";

/** What people read to use the platform; the others are for those who change it. */
const PAGES = [...allPages()].filter(([file]) => /^(?:README\.md|docs\/|examples\/)/.test(file));
const RUN = /^sh (?:run|walk)$/;
/** Says behind the word what it takes that no test has. */
const NEEDS = /^sh needs \S/;
const DRAWING = /[│─▶▼]/;

describe.each(PAGES)("%s", (file, { fences }) => {
  test("commands to copy are run by a test, or say what they need that it has not", () => {
    const commands = fences.filter(({ info }) => /^(?:sh|bash|console|shell)\b/.test(info));
    const unsaid = commands.filter(({ info }) => !RUN.test(info) && !NEEDS.test(info));
    expect(unsaid.map(({ line, info }) => `${file}:${line}: ${info}`)).toEqual([]);
  });

  test("what a program shows is compared with the program; any other text is a drawing", () => {
    const typed = fences.filter(({ info, body }) => info === "text" && !DRAWING.test(body));
    expect(file === "docs/reference/cli.md" ? [] : typed.map(({ line }) => `${file}:${line}`)).toEqual([]);
  });

  test("YAML and JSON can be read", () => {
    const documents = fences.filter(({ info }) => info === "yaml" || info === "json");
    const wrong = documents.flatMap(({ body, line }) =>
      parseAllDocuments(body).flatMap(({ errors }) => errors.map(({ message }) => `${file}:${line}: ${message}`)),
    );
    expect(wrong).toEqual([]);
  });
});

test("few blocks need what no test has", () => {
  const blocks = PAGES.flatMap(([file, { fences }]) => fences.map((fence) => ({ file, ...fence })));
  const needy = blocks.filter(({ info }) => NEEDS.test(info));
  expect(needy.map(({ file, info }) => `${file}: ${info.slice("sh needs ".length)}`).toSorted()).toEqual([
    "README.md: a terminal of its own",
    "README.md: a terminal of its own",
    "docs/README.md: a terminal of its own",
    "docs/guides/troubleshooting.md: the key of a deployment",
    "examples/greeter-service/README.md: a container engine, a registry and a cluster that runs images",
  ]);
  expect(blocks.filter(({ info }) => RUN.test(info)).length).toBeGreaterThan(50);
});
