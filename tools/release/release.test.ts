import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../tasks/root.ts";
import { findNotes, readSections, releaseSection } from "./changelog.ts";
import { isVersion, replaceVersion } from "./versions.ts";

const CHANGELOG = `# Changelog

Text.

## Unreleased

### Command line

- Add \`oaas fly\`.

## 0.1.0 - 2026-01-02

- First.
`;

describe("the changelog", () => {
  test("gives the notes of a version, which are the unreleased entries before its release", () => {
    expect(findNotes(CHANGELOG, "0.1.0")).toBe("- First.");
    expect(findNotes(CHANGELOG, "0.2.0")).toBe("### Command line\n\n- Add `oaas fly`.");
    expect(findNotes("# Changelog\n\n## Unreleased\n", "0.2.0")).toBeUndefined();
  });

  test("of this repository has notes for the next release", () => {
    expect(findNotes(readFileSync(path.join(ROOT, "CHANGELOG.md"), "utf8"), "999.0.0")).toMatch(/^### /);
  });

  test("gets a section with the unreleased entries", () => {
    const released = releaseSection(CHANGELOG, "0.2.0", "2026-11-19");
    expect(readSections(released)).toEqual([
      { title: "Unreleased", body: "" },
      { title: "0.2.0 - 2026-11-19", body: "### Command line\n\n- Add `oaas fly`." },
      { title: "0.1.0 - 2026-01-02", body: "- First." },
    ]);
  });

  test("is not changed for a released version, or without entries", () => {
    expect(() => releaseSection(CHANGELOG, "0.1.0", "2026-11-19")).toThrow("already has a section 0.1.0");
    const released = releaseSection(CHANGELOG, "0.2.0", "2026-11-19");
    expect(() => releaseSection(released, "0.3.0", "2026-11-20")).toThrow('no entries in "## Unreleased"');
  });
});

test.each([
  ["1.2.3", true],
  ["1.2.3-rc.1", true],
  ["v1.2.3", false],
  ["1.2", false],
  ["01.2.3", false],
  ["1.2.3; rm", false],
])("%s is a version: %s", (text, expected) => {
  expect(isVersion(text)).toBe(expected);
});

describe("a new version", () => {
  test.each([
    [
      "apps/cli/package.json",
      '{\n  "version": "0.1.0",\n  "dependencies": {\n    "@oaas/rpc": "0.1.0",\n    "zod": "0.1.0"\n  }\n}',
    ],
    ["deploy/class-runtime-manager/base/kustomization.yaml", "images:\n  - name: x\n    newTag: 0.1.0\n"],
    ["deploy/compose/compose.yaml", "image: oaas/x:${OAAS_VERSION:-0.1.0}\nother: y:0.1.0\n"],
    ["deploy/charts/oaas/Chart.yaml", 'version: 0.1.0\nappVersion: "0.1.0"\n'],
    ["apps/cli/src/root-help.cjs", 'const VERSION = "0.1.0";\n'],
    ["apps/cli/test/screens/help.txt", "oaas 0.1.0: deploy classes\n"],
    ["deploy/images/Containerfile", "#   docker build -t oaas/package-manager:0.1.0 .\n"],
    ["docs/guides/images.md", "`registry.example/oaas/cli:0.1.0` `ocidir://dist/images/cli:0.1.0`\nother: y:0.1.0\n"],
    ["docs/first-day.md", '    "user-agent": "oprc-crm/0.1.0",\n'],
  ])("replaces ours in %s and no other", (file, text) => {
    const changed = replaceVersion(file, text, "0.1.0", "0.2.0");
    expect(changed).toMatch(/0\.2\.0/);
    const kept = [...changed.matchAll(/.*0\.1\.0.*/g)].map(([line]) => line.trim());
    expect(kept).toEqual(text.includes("zod") ? ['"zod": "0.1.0"'] : text.includes("other") ? ["other: y:0.1.0"] : []);
    expect(replaceVersion(file, changed, "0.2.0", "0.1.0")).toBe(text);
  });

  test("replaces those of workspaces in the lockfile, and keeps its form", () => {
    const text = readFileSync(path.join(ROOT, "package-lock.json"), "utf8");
    const { version } = JSON.parse(text) as { version: string };
    const changed = replaceVersion("package-lock.json", text, version, "9.8.7");
    const own = JSON.parse(changed) as {
      packages: Record<string, { version?: string; dependencies?: Record<string, string> }>;
    };
    expect(own.packages["apps/cli"]?.version).toBe("9.8.7");
    expect(own.packages["apps/cli"]?.dependencies?.["@oaas/foundation"]).toBe("9.8.7");
    expect(own.packages["node_modules/zod"]?.version).not.toBe("9.8.7");
    expect(replaceVersion("package-lock.json", changed, "9.8.7", version)).toBe(text);
  });
});
