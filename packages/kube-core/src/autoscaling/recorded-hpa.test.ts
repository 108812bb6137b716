import { expect, it } from "vitest";
import recorded from "../../testdata/recorded/hpa-replicas.json" with { type: "json" };
import { randomHpaCase, replayHpa } from "./testing/hpa-cases.ts";

it("computes the replicas that kube-controller-manager 1.36.3 computed for the same pods", () => {
  const ours = recorded.map((_, index) => replayHpa(randomHpaCase(index + 1)));
  expect(ours).toEqual(recorded);
});
