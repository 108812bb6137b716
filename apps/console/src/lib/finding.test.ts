import { expect, test } from "vitest";
import type { Finding } from "../api/contract.ts";
import { flattenFinding } from "./finding.ts";

const finding = (name: string, verdict: Finding["verdict"], ...causes: readonly Finding[]): Finding => ({
  level: "class",
  name,
  verdict,
  reason: "",
  message: "",
  suggested_action: "",
  resource: null,
  since: null,
  count: null,
  causes,
});

test("shows the chain to the problem without its healthy siblings", () => {
  const tree = finding(
    "class",
    "permanent",
    finding("f1", "healthy"),
    finding("f2", "permanent", finding("pod", "permanent")),
  );
  const names = (only: boolean) => flattenFinding(tree, only).map(({ depth, finding: { name } }) => `${depth}:${name}`);
  expect(names(true)).toEqual(["0:class", "1:f2", "2:pod"]);
  expect(names(false)).toEqual(["0:class", "1:f1", "1:f2", "2:pod"]);
});
