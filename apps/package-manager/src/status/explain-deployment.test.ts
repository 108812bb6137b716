import type { ClusterName, DeploymentKey, UnitId } from "@oaas/models";
import { describe, expect, it } from "vitest";
import {
  beforeChange,
  explainDeployment,
  findingFromReport,
  createFinding,
  type ClusterFinding,
} from "./explain-deployment.ts";
import { reportOf } from "./testing/reports.ts";

const key = "cart" as DeploymentKey;
const at = "2026-01-01T00:00:00Z";
const of = (cluster: string, rest: Omit<ClusterFinding, "cluster" | "unitId">): ClusterFinding => ({
  cluster: cluster as ClusterName,
  unitId: "u" as UnitId,
  ...rest,
});
const healthy = createFinding("shop.Cart", "healthy", "Available");
const pod = {
  ...createFinding("add-1", "permanent", "image not found", { suggested_action: "correct the image" }),
  level: "pod" as const,
};
const broken = createFinding("shop.Cart", "permanent", "Function Cart.add: the registry has no image add:2.", {
  suggested_action: "Correct the image.",
  causes: [
    { ...createFinding("Cart.slow", "transient", "starting"), level: "function" },
    { ...createFinding("Cart.add", "permanent", "no replica is ready", { causes: [pod] }), level: "function" },
  ],
});
const starting = createFinding("shop.Cart", "transient", "progressing");

describe("explainDeployment", () => {
  const cases: { name: string; clusters: ClusterFinding[]; verdict: string; summary: RegExp; action: string }[] = [
    { name: "no cluster", clusters: [], verdict: "transient", summary: /not placed in a cluster yet/, action: "" },
    {
      name: "healthy in all clusters",
      clusters: [of("a", { finding: healthy }), of("b", { finding: healthy })],
      verdict: "healthy",
      summary: /healthy in all 2 clusters/,
      action: "",
    },
    {
      name: "the root cause in the worst cluster",
      clusters: [of("a", { finding: starting }), of("b", { finding: broken }), of("c", { error: "unreachable" })],
      verdict: "permanent",
      summary:
        /^Function Cart\.add in b: the registry has no image add:2\. Waiting will not help: correct the image\.$/,
      action: "Correct the image.",
    },
    {
      name: "the same cause in several clusters",
      clusters: [of("c", { finding: broken }), of("a", { finding: healthy }), of("b", { finding: broken })],
      verdict: "permanent",
      summary: /^Function Cart\.add in b and c: the registry has no image add:2\. Waiting will not help: /,
      action: "Correct the image.",
    },
    {
      name: "the only cluster is not named",
      clusters: [of("a", { finding: broken })],
      verdict: "permanent",
      summary: /^Function Cart\.add: the registry has no image add:2\. Waiting will not help: correct the image\.$/,
      action: "Correct the image.",
    },
    {
      name: "a transient cause",
      clusters: [of("a", { finding: { ...starting, suggested_action: "Wait until the pods are ready." } })],
      verdict: "transient",
      summary: /^progressing\. Wait until the pods are ready\.$/,
      action: "Wait until the pods are ready.",
    },
    {
      name: "an unreachable cluster",
      clusters: [of("a", { finding: healthy }), of("b", { error: 'cluster "b" is unreachable' })],
      verdict: "transient",
      summary: /^Cluster b: cluster "b" is unreachable\.$/,
      action: 'Check why cluster "b" is unreachable.',
    },
  ];
  it.each(cases)("$name", ({ clusters, verdict, summary, action }) => {
    const explanation = explainDeployment(key, clusters, undefined, at);
    expect(explanation).toMatchObject({ verdict, suggestedAction: action, observedAt: at });
    expect(explanation.summary).toMatch(summary);
    expect(explanation.clusters).toHaveLength(clusters.length);
  });

  it("reports a running operation", () => {
    const operation = { id: "s", kind: "deploy", state: "running", done: 1, total: 3 } as const;
    expect(explainDeployment(key, [of("a", { finding: starting })], operation, at).summary).toContain(
      "Operation deploy is in progress (1/3).",
    );
  });

  it("gives no verdict about a revision that has not reached the cluster", () => {
    const finding = beforeChange(broken);
    const { verdict, summary } = explainDeployment(key, [of("a", { finding })], undefined, at);
    expect({ verdict, summary }).toMatchObject({
      verdict: "transient",
      summary: expect.stringMatching(/^The latest rev/),
    });
    expect(finding.causes).toEqual(broken.causes);
  });

  it("uses the status report when the manager does not support explain", () => {
    expect(findingFromReport(reportOf("a", "u", { condition: "down", message: "Degraded" }))).toMatchObject({
      verdict: "permanent",
      message: "Degraded",
      causes: [{ level: "function", name: "Cart.add" }],
    });
  });
});
