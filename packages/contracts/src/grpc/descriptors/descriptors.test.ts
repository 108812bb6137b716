import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { FILE_DESCRIPTORS } from "./descriptors.ts";

test("contains every generated file", () => {
  const generated = readdirSync(new URL("../../gen", import.meta.url), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith("_pb.ts"))
    .map((file) => file.replaceAll("\\", "/").replace(/_pb\.ts$/, ""));
  const own = FILE_DESCRIPTORS.map((file) => file.name).filter((name) => !name.startsWith("google/"));
  expect(own.sort()).toEqual(generated.sort());
});

test("orders files after their imports", () => {
  const seen = new Set<string>();
  for (const file of FILE_DESCRIPTORS) {
    expect(file.dependencies.filter((needed) => !seen.has(needed.name)).map((needed) => needed.name)).toEqual([]);
    seen.add(file.name);
  }
});
