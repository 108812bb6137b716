import { expect, test } from "vitest";
import { planClusters, planContexts } from "./plan-clusters.ts";
import { splitProgress } from "./progress.ts";

const settings = {
  real: false,
  count: 2,
  apiPort: 0,
  managerPort: 0,
  nodes: undefined,
  contexts: [],
  node: false,
  images: [],
};

test("plans clusters that differ in labels, size, availability and folder", () => {
  expect(planClusters(settings, "/data")).toEqual([
    {
      name: "edge",
      labels: { env: "edge", zone: "a" },
      nodes: 2,
      availability: 0.99,
      terms: {
        availability: { value: 0.99, source: "settings of the local stack", date: "2026-11-18" },
        cost: { cpu_hour: 0.06, gib_hour: 0.008, currency: "EUR" },
      },
      folder: "/data/edge",
      apiPort: 0,
      managerPort: 0,
    },
    {
      name: "cloud",
      labels: { env: "cloud", zone: "b" },
      nodes: 3,
      availability: 0.999,
      terms: {
        availability: { value: 0.999, source: "settings of the local stack", date: "2026-11-18" },
        cost: { cpu_hour: 0.04, gib_hour: 0.005, currency: "EUR" },
      },
      folder: "/data/cloud",
      apiPort: 0,
      managerPort: 0,
    },
  ]);
});

test("uses consecutive ports and the configured number of nodes", () => {
  const plans = planClusters({ ...settings, count: 3, apiPort: 6443, managerPort: 8088, nodes: 7 }, "/data");
  expect(plans.map(({ apiPort, managerPort, nodes }) => [apiPort, managerPort, nodes])).toEqual([
    [6443, 8088, 7],
    [6444, 8089, 7],
    [6445, 8090, 7],
  ]);
});

test("real clusters have no simulated availability and no terms", () => {
  expect(
    planClusters({ ...settings, real: true }, "/data").map((plan) => "availability" in plan || "terms" in plan),
  ).toEqual([false, false]);
});

test("plans one cluster with real nodes, whatever the number of clusters", () => {
  const plans = planClusters({ ...settings, node: true, count: 3, apiPort: 6443, nodes: 2 }, "/data");
  expect(plans).toEqual([
    {
      name: "cloud",
      labels: { env: "cloud", zone: "b" },
      runsImages: true,
      nodes: 2,
      folder: "/data/cloud-node",
      apiPort: 6443,
      managerPort: 0,
    },
  ]);
});

test("derives valid and unique cluster names from contexts", () => {
  const contexts = ["admin@prod.example/EU", "kind-a", "kind_a", "@"];
  const plans = planContexts({ contexts, managerPort: 8088 }, "/data");
  expect(plans.map(({ name, context, managerPort }) => [name, context, managerPort])).toEqual([
    ["admin-prod-example-eu", "admin@prod.example/EU", 8088],
    ["kind-a", "kind-a", 8089],
    ["kind-a-2", "kind_a", 8090],
    ["cluster", "@", 8091],
  ]);
});

test("shows parallel steps together", () => {
  const shown: string[] = [];
  const [edge, cloud] = splitProgress(
    { step: (step) => void shown.push(step), note: (text) => void shown.push(`note ${text}`) },
    ["edge", "cloud"],
  );
  edge?.step("etcd");
  cloud?.step("etcd");
  edge?.step("up");
  cloud?.note("something");
  expect(shown).toEqual(["edge: etcd", "edge: etcd · cloud: etcd", "edge: up · cloud: etcd", "note something"]);
});
