import type { ClusterName, DriftCorrection } from "@oaas/models";
import { expect, test } from "vitest";
import { reportOf } from "../status/testing/reports.ts";
import { DriftNews } from "./drift-news.ts";

const EDGE = "edge" as ClusterName;

function correction(lastAt: string, name = "greet"): DriftCorrection {
  return {
    kind: "Deployment",
    name,
    fields: [{ path: ".spec.replicas", was: "1", now: "3" }],
    firstAt: lastAt,
    lastAt,
    count: 1,
    message: `corrected ${name}`,
  };
}

function report(...driftCorrections: readonly DriftCorrection[]) {
  const { runtime, ...rest } = reportOf("edge", "u");
  return { ...rest, runtime: { ...runtime, status: { ...runtime.status!, driftCorrections } } };
}

test("returns each correction once, oldest first, and a repetition again", () => {
  const news = new DriftNews();
  expect(news.news(EDGE, reportOf("edge", "u"))).toEqual([]);
  expect(news.news(EDGE, report(correction("t2", "b"), correction("t1", "a")))).toMatchObject([
    { reason: "DriftCorrected", cluster: "edge", name: "a", message: "corrected a" },
    { name: "b" },
  ]);
  expect(news.news(EDGE, report(correction("t2", "b"), correction("t1", "a")))).toEqual([]);
  expect(news.news(EDGE, report(correction("t3", "a"), correction("t2", "b")))).toMatchObject([{ name: "a" }]);
});

test("forgets a removed unit", () => {
  const news = new DriftNews();
  const seen = report(correction("t1"));
  news.news(EDGE, seen);
  news.forget(EDGE, seen.unitId);
  expect(news.news(EDGE, report(correction("t1")))).toHaveLength(1);
});
