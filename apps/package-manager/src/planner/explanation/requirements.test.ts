import { expect, test } from "vitest";
import { expectPlan, functionKey, STRONG_STATE } from "../testing/plan-inputs.ts";
import { planText } from "./plan-view.ts";
import { statedRequirements } from "./requirements.ts";

const plan = expectPlan({
  definition: { stateSpec: STRONG_STATE },
  deployment: {
    nfr: { availability: 0.99, minThroughputRps: 100, maxLatencyMs: 100, cpuUtilizationTarget: 0.7 },
    functions: [{ functionKey: functionKey("Order.place"), config: {}, nfr: { maxLatencyMs: 20 } }],
  },
});

test("lists every stated requirement with its use, of the class first", () => {
  expect(statedRequirements(plan).map(({ text, component, use }) => [text, component, use])).toEqual([
    ["availability 0.99", "", "sizing"],
    ["throughput 100 requests per second", "", "sizing"],
    ["latency 100 ms", "", "recorded"],
    ["CPU utilization 0.7", "", "configuration"],
    ["consistency strong", "", "sizing"],
    ["latency 20 ms", "Order.place", "recorded"],
  ]);
});

test("lists nothing that is not stated", () => expect(statedRequirements(expectPlan())).toEqual([]));

test("explains the use in the text of the plan", () => {
  expect(planText(plan)).toContain("\nRequirement: latency 20 ms of Order.place: recorded, not used for sizing;");
});
