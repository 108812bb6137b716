import { expect, test } from "vitest";
import { findProgram } from "./local-programs.ts";

const GREETER = { image: "registry.example.test:5000/greeter", file: "main.mjs" };

test.each([
  ["registry.example.test:5000/greeter", true],
  ["registry.example.test:5000/greeter:1.0.0", true],
  ["registry.example.test:5000/greeter@sha256:abc", true],
  ["registry.example.test:5000/greeter:missing", false],
  ["registry.example.test:5000/greeter:crashing", false],
  ["registry.example.test:5000/other:1.0.0", false],
  ["greeter:1.0.0", false],
])("image %s runs locally: %s", (image, isLocal) => {
  expect(findProgram([GREETER], image)).toBe(isLocal ? GREETER : undefined);
});
