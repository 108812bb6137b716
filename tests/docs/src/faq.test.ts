import { expect, test } from "vitest";
import { allPages } from "./pages.ts";

/** Words people search for on the first day, as anchors of headings. */
const WORDS = ["secrets", "kind", "k3d", "upgrade", "alerts", "logs", "scale-to-zero", "invoking", "cost"];

test.each(WORDS)("one heading of the questions and answers is about %s", (word) => {
  const anchors = [...(allPages().get("docs/faq.md")?.anchors ?? [])];
  expect(anchors.filter((anchor) => `-${anchor}-`.includes(`-${word}-`))).toHaveLength(1);
});
