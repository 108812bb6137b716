import { describe, expect, test } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import { roleAggregator } from "../index.ts";
import { CLUSTER_ROLES } from "../objects/resources.ts";
import { TEST_SERVERS, Lab } from "../testing/lab.ts";

const rule = (resource: string, ...verbs: readonly string[]): JsonObject => ({
  apiGroups: [""],
  resources: [resource],
  verbs: [...verbs],
});
const gatherer = (name: string, ...labels: readonly string[]): object => ({
  metadata: { name },
  aggregationRule: { clusterRoleSelectors: labels.map((label) => ({ matchLabels: { [label]: "true" } })) },
  rules: [],
});
const gathered = (name: string, label: string, ...rules: readonly JsonObject[]): object => ({
  metadata: { name, labels: { [label]: "true" } },
  rules,
});

describe.each(TEST_SERVERS)("on %s:", (ground) => {
  async function labWith(...roles: readonly object[]): Promise<Lab> {
    const lab = await Lab.on(ground);
    for (const role of roles) await lab.create(CLUSTER_ROLES, role);
    await lab.start(roleAggregator(lab.ports));
    return lab;
  }
  // The server writes missing rules as null, as Go does.
  const rulesOf = (lab: Lab, name: string): unknown => lab.object(CLUSTER_ROLES, name)["rules"] ?? [];

  test("an aggregated role has the rules of the selected roles, each once, by selector and name", async () => {
    const lab = await labWith(
      gatherer("edits", "to-edit", "to-view"),
      gathered("b-pods", "to-edit", rule("pods", "get"), rule("pods", "delete")),
      gathered("a-secrets", "to-edit", rule("secrets", "get")),
      gathered("looks", "to-view", rule("pods", "get"), rule("nodes", "get")),
      gathered("others", "unselected", rule("services", "get")),
    );
    expect(rulesOf(lab, "edits")).toEqual([
      rule("secrets", "get"),
      rule("pods", "get"),
      rule("pods", "delete"),
      rule("nodes", "get"),
    ]);
  });

  test("follows added, changed and deleted roles, also of other aggregated roles", async () => {
    const lab = await labWith(gatherer("all", "to-all"), {
      ...gatherer("some", "to-some"),
      metadata: { name: "some", labels: { "to-all": "true" } },
    });
    await lab.create(CLUSTER_ROLES, gathered("pods", "to-some", rule("pods", "get")));
    await lab.settle();
    expect(rulesOf(lab, "all")).toEqual([rule("pods", "get")]);
    await lab.change(CLUSTER_ROLES, "pods", (role) => ({ ...role, rules: [rule("pods", "list")] }));
    await lab.settle();
    expect(rulesOf(lab, "all")).toEqual([rule("pods", "list")]);
    await lab.cluster.delete(CLUSTER_ROLES, { name: "pods" }, {});
    await lab.settle();
    expect([rulesOf(lab, "all"), rulesOf(lab, "some")]).toEqual([[], []]);
  });

  test("writes nothing when nothing changes", async () => {
    const lab = await labWith(gatherer("edits", "to-edit"), gathered("pods", "to-edit", rule("pods", "get")));
    const before = lab.history.length;
    await lab.create(CLUSTER_ROLES, gathered("others", "unselected", rule("services", "get")));
    await lab.settle();
    expect(lab.history.length).toBe(before + 1);
  });
});
