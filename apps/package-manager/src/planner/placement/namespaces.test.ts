import { ClusterStatus, type ClusterHealth } from "@oaas/models";
import { expect, test } from "vitest";
import type { CandidateCluster } from "../plan-types.ts";
import { planToWire } from "../explanation/plan-view.ts";
import { clusterName, clusterOf, expectPlan, expectRefusal, inputOf } from "../testing/plan-inputs.ts";

/** A cluster whose manager accepts namespaces and serves all, with the default `home`. */
function edge(more: Partial<CandidateCluster> = {}, health: Partial<ClusterHealth> = {}): CandidateCluster {
  return clusterOf("edge", 0.999, {
    reading: {
      cluster: clusterName("edge"),
      status: ClusterStatus.healthy,
      availability: 0.999,
      acceptsNamespace: true,
      defaultNamespace: "home",
      ...health,
    },
    ...more,
  });
}

const earlier = edge({}, { acceptsNamespace: undefined, defaultNamespace: undefined } as never);

test.each([
  {
    of: "the deployment",
    deployment: "shop",
    package: "pkg",
    cluster: edge({ defaultNamespace: "cl" }),
    want: ["shop", "deployment"],
  },
  { of: "the package", package: "pkg", cluster: edge({ defaultNamespace: "cl" }), want: ["pkg", "package"] },
  { of: "the registration of the cluster", cluster: edge({ defaultNamespace: "cl" }), want: ["cl", "cluster"] },
  { of: "the manager", cluster: edge(), want: ["home", "manager"] },
  { of: "an earlier manager, which decides", cluster: earlier, want: [undefined, "manager"] },
  {
    of: "the existing unit, not of changed defaults",
    package: "pkg",
    cluster: edge({ existing: { namespace: "old" } }),
    want: ["old", "running"],
  },
  {
    of: "the existing unit, as stated",
    deployment: "old",
    cluster: edge({ existing: { namespace: "old" } }),
    want: ["old", "deployment"],
  },
  {
    of: "an existing unit of an earlier release",
    cluster: edge({ existing: { reported: "old" } }),
    want: [undefined, "manager"],
  },
  {
    of: "an existing unit of an earlier release, as stated",
    deployment: "old",
    cluster: edge({ existing: { reported: "old" } }),
    want: ["old", "deployment"],
  },
  {
    of: "an existing unit although the allow-list changed",
    cluster: edge({ existing: { namespace: "old" }, allowedNamespaces: ["new"] }),
    want: ["old", "running"],
  },
  {
    of: "a system namespace that the registration lists",
    deployment: "kube-extra",
    cluster: edge({ allowedNamespaces: ["kube-extra"] }),
    want: ["kube-extra", "deployment"],
  },
])("uses the namespace of $of", ({ deployment, package: from, cluster, want }) => {
  const plan = expectPlan({
    clusters: [cluster],
    ...(deployment === undefined ? {} : { deployment: { namespace: deployment } }),
    ...(from === undefined ? {} : { package: { namespace: from } }),
  });
  expect(plan.units.map(({ namespace, namespaceOrigin }) => [namespace, namespaceOrigin])).toEqual([want]);
});

test.each([
  {
    why: "not in the allow-list",
    cluster: edge({ allowedNamespaces: ["a", "b"] }),
    text: "not in its allowed_namespaces (a, b)",
    fix: "use one of a, b",
  },
  { why: "not served", cluster: edge({}, { namespaces: ["a"] }), text: "does not serve", fix: "use one of a" },
  { why: "an earlier manager", cluster: earlier, text: "cannot be given a namespace", fix: "another namespace" },
  {
    why: "the manager's own",
    cluster: edge({}, { rejectedNamespaces: ["shop"] }),
    text: "is a system namespace",
    fix: "another namespace",
  },
  {
    why: "already elsewhere",
    cluster: edge({ existing: { namespace: "old" } }),
    text: 'cannot move to namespace "shop"',
    fix: "new key",
  },
  { why: "in an unknown namespace", cluster: edge({ existing: {} }), text: "has not reported", fix: "new key" },
])("refuses a stated namespace with the field and the fix: $why", ({ cluster, text, fix }) => {
  for (const targetClusters of [[], [clusterName("edge")]]) {
    const refusal = expectRefusal({ clusters: [cluster], deployment: { namespace: "shop", targetClusters } });
    expect(refusal).toMatchObject({
      kind: "invalid",
      violations: [
        {
          path: "$.namespace",
          message: expect.stringContaining(text) as string,
          fix: expect.stringContaining(fix) as string,
        },
      ],
    });
  }
});

test("refuses a system namespace", () => {
  const refusal = expectRefusal({ clusters: [edge()], deployment: { namespace: "kube-system" } });
  expect(refusal.message).toContain('namespace "kube-system" is a system namespace');
});

test("a manager that decides itself cannot satisfy an allow-list", () => {
  const refusal = expectRefusal({ clusters: [{ ...earlier, allowedNamespaces: ["a"] }] });
  expect(refusal.message).toContain("set its default_namespace");
});

test("excludes a cluster that does not accept the namespace when another one does", () => {
  const other = { ...edge(), name: clusterName("cloud") };
  const plan = expectPlan({
    clusters: [edge({ allowedNamespaces: ["a"] }), other],
    deployment: { namespace: "shop" },
  });
  expect(plan.units.map(({ cluster }) => cluster)).toEqual(["cloud"]);
  const { units, clusters, decisions } = planToWire({ plan, changes: undefined, loss: undefined });
  expect(units[0]?.namespace).toEqual({ name: "shop", origin: "deployment" });
  expect(clusters.find(({ cluster }) => cluster === "edge")?.reasons_against).toEqual([
    'namespace "shop" is not in its allowed_namespaces (a)',
  ]);
  expect(decisions.find(({ rule }) => rule.startsWith("namespace:"))).toMatchObject({
    inputs: { deployment: "shop" },
    outcome: "shop (of the deployment) in cloud",
  });
});

test("the origin of a namespace does not change the digest", () => {
  const stated = expectPlan({ clusters: [edge()], deployment: { namespace: "home" } });
  const byDefault = expectPlan({ clusters: [edge()] });
  expect(byDefault.digest).toBe(stated.digest);
  expect(expectPlan({ clusters: [edge()], package: { namespace: "shop" } }).digest).not.toBe(stated.digest);
});

test("a unit that is not eligible any more does not count as a move", () => {
  const other = { ...edge(), name: clusterName("cloud") };
  const input = inputOf({
    clusters: [edge({ existing: { namespace: "old" } }), other],
    deployment: { namespace: "shop", targetClusters: [clusterName("cloud")] },
  });
  expect(expectPlan(input).units.map(({ namespace }) => namespace)).toEqual(["shop"]);
});

test("names the remedy where one cluster refuses the namespace and another does not answer", () => {
  const clusters = [edge(), clusterOf("silent", 0.99, { reading: undefined } as never)];
  const refusal = expectRefusal({ clusters, deployment: { namespace: "kube-public" } });
  expect(refusal.message).toContain('edge (namespace "kube-public" is a system namespace');
  expect(refusal.message).toContain("use another namespace, or change the clusters' allowed_namespaces, or retry");
});
