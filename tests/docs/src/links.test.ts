import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { allPages, ROOT } from "./pages.ts";

const PAGES = allPages();
const ELSEWHERE = /^[a-z][a-z+.-]*:/;
/** Folders whose files are mentioned in code spans. */
const OWN_PATH = /^(?:apps|packages|docs|deploy|examples|tests|tools|bench)\/[\w./-]+$/;

/** Why a link is broken, or undefined. */
function fault(page: string, link: string): string | undefined {
  if (ELSEWHERE.test(link)) return link.startsWith("http") && !URL.canParse(link) ? "is not a valid URL" : undefined;
  const [target = "", anchor] = link.split("#", 2);
  const file = target === "" ? page : path.posix.join(path.posix.dirname(page), decodeURI(target));
  if (file.startsWith("..")) return "points outside the repository";
  if (!existsSync(path.join(ROOT, file))) return `points to ${file}, which does not exist`;
  if (anchor === undefined) return undefined;
  const there = PAGES.get(file);
  if (there === undefined) return `points to #${anchor} of ${file}, which is not a page`;
  return there.anchors.has(anchor) ? undefined : `points to #${anchor}, which ${file} does not have`;
}

test("finds pages to check", () => {
  expect(PAGES.size).toBeGreaterThan(40);
  expect([...PAGES.values()].flatMap(({ links }) => links).length).toBeGreaterThan(100);
});

describe.each([...PAGES])("%s", (file, page) => {
  test("has valid links and anchors", () => {
    const faults = page.links.flatMap(({ text, line }) => {
      const wrong = fault(file, text);
      return wrong === undefined ? [] : [`${file}:${line}: [${text}] ${wrong}`];
    });
    expect(faults).toEqual([]);
  });

  test("mentions existing files only", () => {
    // The changelog mentions old files.
    const spans = file === "CHANGELOG.md" ? [] : page.spans;
    const missing = spans.flatMap(({ text, line }) => {
      if (!OWN_PATH.test(text) || existsSync(path.join(ROOT, text))) return [];
      return [`${file}:${line}: ${text} does not exist`];
    });
    expect(missing).toEqual([]);
  });
});

describe("the index", () => {
  const indexed = new Set(
    PAGES.get("docs/README.md")?.links.map(({ text }) => path.posix.join("docs", text.split("#")[0] ?? "")),
  );

  test("lists every guide, explanation and reference page", () => {
    const pages = ["guides", "how-it-works", "reference"].flatMap((folder) =>
      readdirSync(path.join(ROOT, "docs", folder)).map((name) => `docs/${folder}/${name}`),
    );
    expect(pages.filter((page) => !indexed.has(page))).toEqual([]);
  });
});
