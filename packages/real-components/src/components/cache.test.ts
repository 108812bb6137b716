import { describe, expect, it } from "vitest";
import { cacheDir, componentFolder } from "./cache.ts";
import type { Component } from "./component.ts";

describe("cacheDir", () => {
  it.each([
    { why: "our own variable wins", env: { OAAS_CACHE_DIR: "/a", XDG_CACHE_HOME: "/b" }, expected: "/a" },
    { why: "then the desktop's convention", env: { XDG_CACHE_HOME: "/b" }, expected: "/b/oaas" },
    {
      why: "an empty variable counts as unset",
      env: { OAAS_CACHE_DIR: "", XDG_CACHE_HOME: "/b" },
      expected: "/b/oaas",
    },
  ])("$why", ({ env, expected }) => {
    expect(cacheDir(env)).toBe(expected);
  });

  it("falls back to the home folder", () => {
    expect(cacheDir({})).toMatch(/\/\.cache\/oaas$/);
  });
});

describe("componentFolder", () => {
  const component = (packages: readonly string[]): Component => ({
    name: "tool",
    version: "1.0",
    tier: "test",
    purpose: "this test",
    recipe: { kind: "debian-extract", packages, commands: {} },
    files: {},
    proof: { file: "tool", args: [], says: "" },
  });

  it("is the same for the same recipe, so that clones share it", () => {
    expect(componentFolder(component(["a"]), "/c")).toBe(componentFolder(component(["a"]), "/c"));
  });

  it("is another one for another recipe, so that branches do not disturb each other", () => {
    expect(componentFolder(component(["a"]), "/c")).not.toBe(componentFolder(component(["a", "b"]), "/c"));
  });
});
