import { describe, expect, it } from "vitest";
import { cacheDir, componentFolder } from "./cache.ts";
import type { Component } from "../component.ts";

describe("cacheDir", () => {
  it.each([
    { case: "our variable has priority", env: { OAAS_CACHE_DIR: "/a", XDG_CACHE_HOME: "/b" }, expected: "/a" },
    { case: "the XDG variable comes second", env: { XDG_CACHE_HOME: "/b" }, expected: "/b/oaas" },
    {
      case: "an empty variable is ignored",
      env: { OAAS_CACHE_DIR: "", XDG_CACHE_HOME: "/b" },
      expected: "/b/oaas",
    },
  ])("$case", ({ env, expected }) => {
    expect(cacheDir(env)).toBe(expected);
  });

  it("defaults to the home folder", () => {
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
    proof: { file: "tool", args: [], contains: "" },
  });

  it("is the same for the same recipe", () => {
    expect(componentFolder(component(["a"]), "/c")).toBe(componentFolder(component(["a"]), "/c"));
  });

  it("differs for another recipe", () => {
    expect(componentFolder(component(["a"]), "/c")).not.toBe(componentFolder(component(["a", "b"]), "/c"));
  });
});
