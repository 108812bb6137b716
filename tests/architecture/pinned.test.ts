import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "./sources.ts";

/** Lines of files that match a pattern, with the name of the file. */
function linesOf(files: string, pattern: RegExp): readonly string[] {
  return globSync(files, { cwd: ROOT, exclude: (name) => name === "node_modules" }).flatMap((file) =>
    readFileSync(path.join(ROOT, file), "utf8")
      .split("\n")
      .filter((line) => pattern.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
}

describe("what CI and images are built from cannot change under the same name", () => {
  test("actions are pinned by commit, with their version", () => {
    const actions = linesOf(".github/workflows/*.yml", /\buses:/);
    expect(actions.length).toBeGreaterThan(3);
    expect(actions.filter((line) => !/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  test("images are pinned by digest", () => {
    const images = [
      ...linesOf(".github/workflows/*.yml", /^\s*(container|image):/),
      ...linesOf("{apps,deploy,examples,packages}/**/{Dockerfile,Containerfile}", /^FROM (?!scratch\b)/i),
    ];
    expect(images.length).toBeGreaterThan(1);
    expect(images.filter((line) => !/@sha256:[0-9a-f]{64}( AS \w+)?$/i.test(line))).toEqual([]);
  });

  test("pull requests are reviewed for vulnerable dependencies", () => {
    expect(linesOf(".github/workflows/dependency-review.yml", /dependency-review-action|pull_request/)).toHaveLength(2);
  });
});
