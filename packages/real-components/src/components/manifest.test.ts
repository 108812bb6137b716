import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { GO_MODULES } from "./cache/cache.ts";
import { COMPONENTS, componentOf } from "./manifest.ts";

describe("the manifest", () => {
  it("has unique component and file names", () => {
    const files = COMPONENTS.flatMap((component) => Object.keys(component.files));
    expect(new Set(files).size).toBe(files.length);
    const names = COMPONENTS.map((component) => component.name);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(COMPONENTS)("$name is verified by one of its files and has a purpose", (component) => {
    if (component.recipe.kind === "go-files") expect(component.proof).toBeUndefined();
    else expect(Object.keys(component.files)).toContain(component.proof?.file);
    expect(component.purpose).not.toBe("");
  });

  it.each(COMPONENTS)("$name is pinned by its Go module, if it has one", ({ recipe, version, name }) => {
    if (recipe.kind !== "go-build" && recipe.kind !== "go-files") return;
    const goMod = readFileSync(join(GO_MODULES, recipe.module, "go.mod"), "utf8");
    const packages =
      recipe.kind === "go-build"
        ? Object.values(recipe.binaries).filter((path) => !path.startsWith("./"))
        : recipe.moduleFiles.map(({ module }) => module);
    const pinned = recipe.kind === "go-build" ? (path: string) => `\t${path}\n` : (path: string) => `\t${path} v`;
    expect(packages.filter((path) => !goMod.includes(pinned(path)))).toEqual([]);
    if (packages.length > 0)
      expect(goMod, name).toMatch(new RegExp(`^\\t\\S+ v${version.replaceAll(".", "\\.")}\\b`, "m"));
  });

  it.each(COMPONENTS)("$name is in the README with its version", ({ name, version }) => {
    const readme = readFileSync(join(GO_MODULES, "../README.md"), "utf8");
    expect(readme.replaceAll(/ +/g, " ")).toContain(`| ${name} | ${version} |`);
  });

  it("finds a component by its name or a file name", () => {
    expect(componentOf("kubernetes").name).toBe("kubernetes");
    expect(componentOf("kube-scheduler").name).toBe("kubernetes");
    expect(() => componentOf("nonsense" as "etcd")).toThrow(
      /unknown component or file "nonsense"; components: etcd, kubernetes/,
    );
  });
});
