import { expect, it } from "vitest";
import { parseOneTarget, parseTargets } from "./targets.ts";

it.each([
  ["deployments", { of: "kinds", kinds: ["deployment"] }],
  ["PKG,deploy", { of: "kinds", kinds: ["package", "deployment"] }],
  ["all", { of: "kinds", kinds: ["package", "deployment", "class-runtime", "cluster"] }],
  ["crt a", { of: "objects", objects: [{ kind: "class-runtime", name: "a" }] }],
  [
    "envs edge cloud",
    {
      of: "objects",
      objects: [
        { kind: "cluster", name: "edge" },
        { kind: "cluster", name: "cloud" },
      ],
    },
  ],
  [
    "pkg/shop deploy/shop-order",
    {
      of: "objects",
      objects: [
        { kind: "package", name: "shop" },
        { kind: "deployment", name: "shop-order" },
      ],
    },
  ],
])("%s selects %j", (line, targets) => {
  expect(parseTargets(line.split(" "))).toEqual(targets);
});

it.each([
  ["", /no kind given/],
  ["pods", /unknown kind "pods"/],
  ["deploymnets", /unknown kind "deploymnets"/],
  ["deploy/", /has no name/],
  ["deploy/a b", /"b" has no kind/],
  ["all a", /all takes no names/],
])("rejects %j", (line, text) => {
  expect(() => parseTargets(line.split(" ").filter((word) => word !== ""))).toThrow(text);
});

it.each([
  ["shop-order", "deployment", "shop-order"],
  ["deploy shop-order", "deployment", "shop-order"],
  ["package/shop", "package", "shop"],
])("%s is one object: %s %s", (line, kind, name) => {
  expect(parseOneTarget(line.split(" "))).toEqual({ kind, name });
});

it.each([
  ["deploy", /no deployment given/],
  ["deploy a b", /name one object/],
])("%s is not one object", (line, text) => {
  expect(() => parseOneTarget(line.split(" "))).toThrow(text);
});
