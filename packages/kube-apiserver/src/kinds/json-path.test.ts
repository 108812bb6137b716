import { describe, expect, test } from "vitest";
import { jsonPathText, parseJsonPath } from "./json-path.ts";

const OBJECT = {
  metadata: { annotations: { "a.b/c": "d" } },
  spec: { list: [{ n: 1 }, { n: 2 }] },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Other", status: "False" },
    ],
  },
};

describe("printer column paths", () => {
  test.each([
    [".spec.list[1].n", 2],
    [".spec.list[*].n", 1],
    ['.status.conditions[?(@.type=="Other")].status', "False"],
    [".status.conditions[?(@.type=='Ready')].status", "True"],
    [String.raw`.metadata.annotations.a\.b/c`, undefined],
    [".metadata.annotations['a.b/c']", "d"],
    [".spec.nothing.here", undefined],
  ])("%s finds %j", (path, value) => {
    expect(jsonPathText(OBJECT, path)).toEqual(value);
  });

  test.each(["x", "", ".spec..a", ".a[", "$.a"])("%j finds nothing", (path) => {
    expect(parseJsonPath(path)).toBeUndefined();
  });
});
