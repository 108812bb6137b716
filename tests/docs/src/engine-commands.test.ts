import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { archiveName, PROGRAMS } from "../../../tools/images/programs.ts";
import { referenceOf } from "../../../tools/images/build.ts";
import { findEngineCommands } from "./engine-commands.ts";
import { readPage } from "./markdown.ts";
import { allPages, ROOT } from "./pages.ts";

const { version } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { readonly version: string };
const ARCHIVES = PROGRAMS.map((program) => archiveName(program, version, { os: "linux", architecture: "amd64" }));
const COMMANDS = [...allPages()].flatMap(([file, page]) =>
  findEngineCommands(page).map((command) => ({ file, ...command })),
);

describe("a command of an engine", () => {
  const find = (text: string): unknown => findEngineCommands(readPage(`\`\`\`sh\n${text}\n\`\`\``));

  test.each([
    ["kind load image-archive a.tar --nmae b", "has no --nmae"],
    ["kind load image-archive a.tar b.tar", "takes 1 to 1 arguments"],
    ["kind load docker-archive a.tar", "is not a command"],
    ["k3d image import", "takes 1 to"],
    ["docker load a.tar", "takes 0 to 0 arguments"],
  ])("%s: %s", (text, message) => {
    expect(() => find(text)).toThrow(message);
  });

  test("is found in loops and behind sudo", () => {
    expect(find("for a in b; do sudo k3s ctr images import $a.tar; done")).toMatchObject([
      { route: "k3s ctr images import", arguments: ["$a.tar"] },
    ]);
  });
});

test("the quick starts use every tool, with valid commands", () => {
  const page = "docs/guides/kubernetes-quick-start.md";
  expect(COMMANDS.filter(({ file }) => file === page).map(({ route }) => route)).toEqual([
    "kind load image-archive",
    "k3d image import",
    "k3s ctr images import",
    "docker load",
  ]);
});

test("each archive that a page loads is one that npm run images writes", () => {
  const loaded = COMMANDS.flatMap(({ file, line, arguments: given, flags }) =>
    [...given, flags["--input"] ?? ""].filter((word) => word.endsWith(".tar")).map((word) => ({ file, line, word })),
  );
  expect(loaded.length).toBeGreaterThan(3);
  for (const { file, line, word } of loaded) {
    const pattern = word.replace("$image", "{package-manager,class-runtime-manager}");
    expect(path.posix.dirname(pattern)).toBe("dist/images");
    const alternatives = expandBraces(path.posix.basename(pattern));
    for (const one of alternatives) {
      const matching = ARCHIVES.filter((name) => path.matchesGlob(name, one));
      expect(matching, `${file}:${line}: ${one}`).toHaveLength(1);
    }
  }
});

test("each file that a page passes to an engine exists, with the target that it names", () => {
  const named = COMMANDS.filter(({ flags }) => flags["-f"] !== undefined);
  expect(named.length).toBeGreaterThan(1);
  for (const { flags, text } of named) {
    const file = path.join(ROOT, flags["-f"] ?? "");
    expect(existsSync(file), text).toBe(true);
    if (flags["--target"] !== undefined)
      expect(readFileSync(file, "utf8")).toContain(`FROM scratch AS ${flags["--target"]}\n`);
  }
});

test("the manifests name the loaded images, with a tag that nothing pulls again", () => {
  const references = new Set(PROGRAMS.map((program) => referenceOf(program, { version, registry: undefined })));
  const kustomized = globSync("deploy/*-manager/base/kustomization.yaml", { cwd: ROOT }).flatMap((file) => {
    const { images } = parse(readFileSync(path.join(ROOT, file), "utf8")) as {
      readonly images: readonly { readonly name: string; readonly newTag: string }[];
    };
    return images.map(({ name, newTag }) => `${name}:${newTag}`);
  });
  expect(kustomized.length).toBeGreaterThan(1);
  expect(kustomized.filter((image) => !references.has(image))).toEqual([]);
  const manifests = globSync("deploy/*/base/*.yaml", { cwd: ROOT }).map((file) =>
    readFileSync(path.join(ROOT, file), "utf8"),
  );
  expect(manifests.filter((text) => /imagePullPolicy: Always/.test(text))).toEqual([]);
});

function expandBraces(text: string): readonly string[] {
  const [, before = "", inside, after = ""] = /^(.*)\{(.*)\}(.*)$/.exec(text) ?? [];
  return inside === undefined ? [text] : inside.split(",").map((one) => before + one + after);
}
