import { expect, test } from "vitest";
import { REASONS } from "../../../apps/class-runtime-manager/src/lifecycle/observation/reasons.ts";
import { allPages } from "./pages.ts";

test("the troubleshooting page covers every reason of a problem", () => {
  const links = new Set(
    allPages()
      .get("docs/guides/troubleshooting.md")
      ?.links.map(({ text }) => text),
  );
  const reasons = Object.entries(REASONS).filter(([, { effect }]) => effect !== "calm");
  const missing = reasons.filter(([reason]) => !links.has(`../reference/reasons.md#${reason.toLowerCase()}`));
  expect(missing.map(([reason]) => reason)).toEqual([]);
});
