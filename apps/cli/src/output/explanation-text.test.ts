import type { FindingWire, Reply } from "@oaas/contracts/rest";
import { expect, test } from "vitest";
import { createColours } from "./colours.ts";
import { explanationText } from "./explanation-text.ts";

type Explanation = Reply<"explainDeployment">["value"];

const finding = (level: FindingWire["level"], name: string, rest: Partial<FindingWire> = {}): FindingWire => ({
  level,
  name,
  resource: null,
  verdict: "permanent",
  reason: "ImagePull",
  message: "no image",
  suggested_action: "",
  since: null,
  count: null,
  causes: [],
  ...rest,
});

/** A class whose pod cannot pull its image, with names of one cluster. */
const broken = (cluster: string, namespace: string | null = "shop"): FindingWire => {
  const resource = { kind: "Pod", name: `charge-${cluster}-x1`, namespace, uid: null };
  const pod = finding("pod", resource.name, { resource, causes: [finding("event", `e-${cluster}`)] });
  const workload = finding("workload", `charge-${cluster}`, { causes: [pod] });
  return finding("class", "Order", { causes: [finding("function", "charge", { causes: [workload] })] });
};
const explanation = (clusters: readonly (readonly [string, FindingWire | null])[]): Explanation => ({
  key: "order",
  summary: "Function charge: the registry has no image charge:2.",
  verdict: "permanent",
  suggested_action: "",
  observed_at: "2026-01-01T00:00:00Z",
  clusters: clusters.map(([cluster, found]) => ({
    cluster,
    unit_id: `order-${cluster}`,
    finding: found,
    error: found === null ? "no route" : null,
  })),
});
const context = {
  colours: createColours(false, {}),
  commandLine: (words: string) => `oaas ${words} --context here`,
  kubeconfigs: new Map<string, string>(),
};

test("starts with the sentence and shows equal clusters once", () => {
  const clusters = explanation([
    ["cloud", broken("cloud")],
    ["edge", broken("edge")],
    ["far", finding("class", "Order", { verdict: "healthy", reason: "" })],
    ["lost", null],
  ]);
  const lines = explanationText(clusters, context).split("\n");
  expect(lines[0]).toBe("Function charge: the registry has no image charge:2.");
  expect(lines.filter((line) => /^\w/.test(line)).slice(1)).toEqual([
    "cloud and edge (objects of cloud)",
    "far",
    "lost",
    "Look closer:",
  ]);
});

test("does not merge clusters with another cause", () => {
  const other = broken("edge");
  const clusters = explanation([
    ["cloud", broken("cloud")],
    ["edge", { ...other, causes: other.causes.map((cause) => ({ ...cause, reason: "CrashLoop" })) }],
  ]);
  expect(explanationText(clusters, context)).not.toContain("cloud and edge");
});

test.each([
  {
    case: "of the local stack",
    kubeconfigs: [["edge", "/my data/kubeconfig"]] as const,
    command: "kubectl --kubeconfig '/my data/kubeconfig' -n shop describe pod charge-edge-x1",
  },
  {
    case: "of another cluster",
    kubeconfigs: [],
    command: "kubectl -n shop describe pod charge-edge-x1   # with the kubeconfig of cluster edge",
  },
])("suggests commands for a pod $case", ({ kubeconfigs, command }) => {
  const text = explanationText(explanation([["edge", broken("edge")]]), {
    ...context,
    kubeconfigs: new Map(kubeconfigs),
  });
  expect(text).toContain(`Look closer:\n  oaas logs order --cluster edge --context here\n  ${command}\n`);
});

test("suggests to resume a paused workload, and nothing for a healthy class", () => {
  const resource = { kind: "Deployment", name: "charge", namespace: null, uid: null };
  const paused = finding("class", "Order", { causes: [finding("workload", "charge", { reason: "Paused", resource })] });
  expect(explanationText(explanation([["edge", paused]]), context)).toContain(
    "kubectl rollout resume deployment/charge",
  );
  const healthy = { ...explanation([["edge", finding("class", "Order", { verdict: "healthy" })]]), verdict: "healthy" };
  expect(explanationText(healthy as Explanation, context)).not.toContain("Look closer");
});
