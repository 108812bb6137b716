import { FindingLevel, TemplateChoiceRule, Verdict } from "@oaas/contracts/grpc";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { evaluate } from "../lifecycle/evaluate.ts";
import { runScenario } from "../lifecycle/testing/scenario.ts";
import { refFrom, SimulatedCluster } from "../lifecycle/testing/simulated-cluster.ts";
import { explain } from "./explain.ts";
import { explainTemplate } from "./explain-template.ts";
import { explanationToText } from "./explanation-to-text.ts";
import { explanationToWire } from "./explanation-to-wire.ts";

const folder = new URL("testdata/", import.meta.url);
const QUESTION = { deploymentId: "order-1", classKey: "shop.Order" };

describe("explanations match their recording (UPDATE_GOLDEN=1 updates it)", () => {
  test.each(readdirSync(folder).filter((name) => name.endsWith(".txt")))("%s", (name) => {
    const file = new URL(name, folder);
    const text = readFileSync(file, "utf8");
    const now = runScenario(text, {
      explain: (world, status, [functionKey]) => {
        const answer = explain({ ...QUESTION, status, functionKey }, world.observation(), world.nowMs);
        return explanationToText(answer).trimEnd().split("\n");
      },
    });
    if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, now);
    expect(now).toBe(process.env["UPDATE_GOLDEN"] === "1" ? now : text);
  });
});

/** A class with one function whose image cannot be pulled. */
function brokenWorld(): SimulatedCluster {
  const world = new SimulatedCluster();
  world.addFunction("Order.place", refFrom("deployment/order"), "workload");
  world.applyAll();
  world.change(refFrom("deployment/order"), (object) => ({
    ...object,
    status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1 },
  }));
  world.addPod("order-a", refFrom("deployment/order"), {
    containerStatuses: [{ name: "function", state: { waiting: { reason: "ErrImagePull", message: "not found" } } }],
  });
  world.events.push({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "e-1" },
    type: "Warning",
    reason: "Failed",
    message: "Failed to pull image: not found",
    involvedObject: { kind: "Pod", name: "order-a" },
    count: 4,
    lastTimestamp: "2026-01-01T00:00:00Z",
  });
  return world;
}

test("converts the chain class, function, workload, pod, event to protobuf", () => {
  const world = brokenWorld();
  const { explanation } = explanationToWire(explain(QUESTION, world.observation(), world.nowMs));
  expect(explanation).toMatchObject({
    deploymentId: "order-1",
    verdict: Verdict.PERMANENT,
    suggestedAction: expect.stringContaining("image"),
    observedAt: "2026-01-01T00:00:00.000Z",
    root: { level: FindingLevel.CLASS, name: "shop.Order", reason: "ImagePull", resource: { kind: "ClassRuntime" } },
  });
  const levels: FindingLevel[] = [];
  for (let part = explanation?.root; part !== undefined; part = part.causes[0]) levels.push(part.level);
  expect(levels).toEqual([
    FindingLevel.CLASS,
    FindingLevel.FUNCTION,
    FindingLevel.WORKLOAD,
    FindingLevel.POD,
    FindingLevel.EVENT,
  ]);
});

test("agrees with the status", () => {
  const world = brokenWorld();
  const { status } = evaluate(undefined, world.observation(), world.nowMs);
  const answer = explain({ ...QUESTION, status }, world.observation(), world.nowMs);
  expect(status.message).toContain("image not found");
  expect(answer.summary, "the same cause in plain words").toBe("Function Order.place: the registry has no image.");
  expect(answer.root.reason).toBe(status.reason);
});

test("gives no verdict about a change that is not applied yet", () => {
  const world = brokenWorld();
  const { status } = evaluate(undefined, world.observation(), world.nowMs);
  const observation = { ...world.observation(), generation: (status.observedGeneration ?? 0) + 1 };
  const answer = explain({ ...QUESTION, status }, observation, world.nowMs);
  expect(answer).toMatchObject({ verdict: "transient", root: { verdict: "transient", reason: "RollingOut" } });
  expect(answer.summary).toContain("not applied yet");
  expect(answer.root.causes[0]?.verdict, "the chain shows the state before").toBe("permanent");
});

test("summarizes a thousand failing pods", () => {
  const world = brokenWorld();
  for (let index = 0; index < 1000; index += 1) {
    world.addPod(`order-${index}`, refFrom("deployment/order"), {
      containerStatuses: [{ name: "function", state: { waiting: { reason: "ErrImagePull" } } }],
    });
  }
  const text = explanationToText(explain(QUESTION, world.observation(), world.nowMs));
  expect(text.split("\n").length).toBeLessThan(30);
  expect(text).toContain("991 more pods");
});

describe("template selection", () => {
  const scores = [
    { name: "dev", score: 10 },
    { name: "edge", score: 30, because: "profile edge" },
  ];
  test.each([
    {
      case: "named by an alias",
      choice: { name: "full", basis: "explicit" as const },
      requested: { selected_template: "prod" },
      want: { chosen: "full", rule: "explicit", requested: "prod" },
    },
    {
      case: "hinted",
      choice: { name: "full", basis: "hint" as const },
      requested: { template_hint: "production" },
      want: { chosen: "full", rule: "hint", requested: "production" },
    },
    {
      case: "named by the environment",
      choice: { name: "edge", basis: "environment" as const, scores },
      requested: {},
      want: { chosen: "edge", rule: "environment", wouldChange: expect.stringContaining("default_template") },
    },
    {
      case: "by score, in spite of a hint",
      choice: { name: "edge", basis: "score" as const, scores },
      requested: { template_hint: "knative" },
      want: {
        rule: "score",
        requested: "knative",
        candidates: [{ name: "edge" }, { name: "dev" }],
        wouldChange: expect.stringContaining("dev needs 20 more points"),
      },
    },
  ])("$case", ({ choice, requested, want }) => {
    expect(explainTemplate(choice, requested)).toMatchObject(want);
  });

  test("is undefined before the selection", () => {
    expect(explainTemplate(undefined)).toBeUndefined();
  });

  test("converts to protobuf", () => {
    const world = brokenWorld();
    world.template = { name: "edge", basis: "score", scores };
    const { explanation } = explanationToWire(explain(QUESTION, world.observation(), world.nowMs));
    expect(explanation?.templateChoice).toMatchObject({
      chosen: "edge",
      rule: TemplateChoiceRule.SCORE,
      candidates: [
        { template: "edge", score: 30, eligible: true, reasons: [{ message: "profile edge" }] },
        { template: "dev" },
      ],
    });
  });
});
