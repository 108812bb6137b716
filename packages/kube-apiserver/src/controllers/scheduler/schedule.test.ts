import { describe, expect, test } from "vitest";
import type { Stored } from "@oaas/kube-core";
import type { Claim, Node, Pod, PodSpec } from "../objects/typed.ts";
import { schedulePods } from "./schedule.ts";

const node = (
  name: string,
  more: { spec?: Node["spec"]; labels?: Record<string, string>; room?: Record<string, string> } = {},
): Stored<Node> => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: name, resourceVersion: "1", labels: { "kubernetes.io/hostname": name, ...more.labels } },
  ...(more.spec === undefined ? {} : { spec: more.spec }),
  status: { allocatable: { cpu: "4", memory: "8Gi", pods: "10", ...more.room } },
});

const pod = (name: string, spec: PodSpec = {}, meta: object = {}): Stored<Pod> => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name,
    namespace: "default",
    uid: name,
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
    labels: { app: "web" },
    ...meta,
  },
  spec: { containers: [{ name: "c" }], ...spec },
  status: { phase: "Pending" },
});

const asks = (cpu: string): PodSpec => ({ containers: [{ name: "c", resources: { requests: { cpu } } }] });
const on = (nodeName: string, spec: PodSpec = {}): PodSpec => ({ ...spec, nodeName });
const claim = (phase: string): Claim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "c" },
  status: { phase },
});
const withClaim = (claimName: string): PodSpec => ({ volumes: [{ name: "v", persistentVolumeClaim: { claimName } }] });
const apart = { labelSelector: { matchLabels: { app: "web" } }, topologyKey: "kubernetes.io/hostname" };

interface Row {
  readonly case: string;
  readonly nodes: readonly Stored<Node>[];
  readonly pods: readonly Stored<Pod>[];
  readonly claims?: Readonly<Record<string, Claim>>;
  readonly result: readonly string[];
}

const TAINT = { key: "dedicated", value: "db", effect: "NoSchedule" } as const;
const TAIL = (count: number, helpful = 0): string => {
  const parts = [
    ...(helpful > 0 ? [`${helpful} No preemption victims found for incoming pod`] : []),
    ...(count - helpful > 0 ? [`${count - helpful} Preemption is not helpful for scheduling`] : []),
  ];
  return ` no new claims to deallocate, preemption: 0/${count} nodes are available: ${parts.sort().join(", ")}.`;
};

const rows: readonly Row[] = [
  { case: "nothing waits", nodes: [node("a")], pods: [pod("p", on("a"))], result: [] },
  {
    case: "least loaded node",
    nodes: [node("a"), node("b")],
    pods: [pod("x", on("a", asks("3"))), pod("p", asks("1"))],
    result: ["p → b"],
  },
  {
    case: "highest priority first, then oldest",
    nodes: [node("a", { room: { pods: "1" } })],
    pods: [
      pod("late", {}, { creationTimestamp: "2026-01-02T00:00:00Z" }),
      pod("old"),
      pod("vip", { priority: 5 }, { creationTimestamp: "2026-01-03T00:00:00Z" }),
    ],
    result: [
      "vip → a",
      `old: 0/1 nodes are available: 1 Too many pods.${TAIL(1, 1)}`,
      `late: 0/1 nodes are available: 1 Too many pods.${TAIL(1, 1)}`,
    ],
  },
  { case: "no nodes", nodes: [], pods: [pod("p")], result: ["p: no nodes available to schedule pods"] },
  {
    case: "more than any node has",
    nodes: [node("a"), node("b")],
    pods: [pod("p", asks("5"))],
    result: [`p: 0/2 nodes are available: 2 Insufficient cpu.${TAIL(2)}`],
  },
  {
    case: "more than is free",
    nodes: [node("a")],
    pods: [pod("x", on("a", asks("3"))), pod("p", asks("2"))],
    result: [`p: 0/1 nodes are available: 1 Insufficient cpu.${TAIL(1, 1)}`],
  },
  {
    case: "finished pods free their resources",
    nodes: [node("a")],
    pods: [{ ...pod("x", on("a", asks("3"))), status: { phase: "Succeeded" } }, pod("p", asks("2"))],
    result: ["p → a"],
  },
  {
    case: "two pods scheduled together share the resources",
    nodes: [node("a")],
    pods: [pod("p", asks("3")), pod("q", asks("3"))],
    result: ["p → a", `q: 0/1 nodes are available: 1 Insufficient cpu.${TAIL(1, 1)}`],
  },
  {
    case: "untolerated taint",
    nodes: [node("a", { spec: { taints: [TAINT] } }), node("b")],
    pods: [pod("p")],
    result: ["p → b"],
  },
  {
    case: "tolerated taint",
    nodes: [node("a", { spec: { taints: [TAINT] } })],
    pods: [pod("p", { tolerations: [{ key: "dedicated", operator: "Equal", value: "db" }] })],
    result: ["p → a"],
  },
  {
    case: "PreferNoSchedule taint",
    nodes: [node("a", { spec: { taints: [{ ...TAINT, effect: "PreferNoSchedule" }] } }), node("b")],
    pods: [pod("p")],
    result: ["p → b"],
  },
  {
    case: "each node reports the first failing check",
    nodes: [node("a", { spec: { taints: [TAINT] } }), node("b", { spec: { unschedulable: true } }), node("c")],
    pods: [pod("p", { nodeSelector: { disk: "ssd" } })],
    result: [
      `p: 0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable.${TAIL(3)}`,
    ],
  },
  {
    case: "node affinity: terms are ORed, expressions ANDed",
    nodes: [node("a", { labels: { zone: "1" } }), node("b", { labels: { zone: "2", disk: "ssd" } })],
    pods: [
      pod("p", {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                {
                  matchExpressions: [
                    { key: "zone", operator: "In", values: ["1", "2"] },
                    { key: "disk", operator: "Exists" },
                  ],
                },
              ],
            },
          },
        },
      }),
    ],
    result: ["p → b"],
  },
  {
    case: "preferred affinity ranks the feasible nodes",
    nodes: [node("a"), node("b", { labels: { disk: "ssd" } })],
    pods: [
      pod("x", on("b", asks("3"))),
      pod("p", {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 10, preference: { matchExpressions: [{ key: "disk", operator: "In", values: ["ssd"] }] } },
            ],
          },
        },
      }),
    ],
    result: ["p → b"],
  },
  {
    case: "pod anti-affinity",
    nodes: [node("a"), node("b")],
    pods: [
      pod("x", on("a")),
      pod("p", { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } } }),
    ],
    result: ["p → b"],
  },
  {
    case: "anti-affinity of existing pods",
    nodes: [node("a")],
    pods: [
      pod("x", on("a", { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } } })),
      pod("p"),
    ],
    result: [`p: 0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.${TAIL(1, 1)}`],
  },
  {
    case: "pod affinity; the first pod may run anywhere",
    nodes: [node("a"), node("b")],
    pods: [
      pod("p", { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } } }),
      pod("q", { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } } }),
    ],
    result: ["p → a", "q → a"],
  },
  {
    case: "topology spread over zones",
    nodes: [node("a", { labels: { zone: "1" } }), node("b", { labels: { zone: "2" } })],
    pods: [
      pod("x", on("a")),
      pod("p", {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "zone",
            whenUnsatisfiable: "DoNotSchedule",
            labelSelector: { matchLabels: { app: "web" } },
          },
        ],
      }),
    ],
    result: ["p → b"],
  },
  {
    case: "host port in use",
    nodes: [node("a")],
    pods: [
      pod("x", on("a", { containers: [{ name: "c", ports: [{ containerPort: 1, hostPort: 80 }] }] })),
      pod("p", { containers: [{ name: "c", ports: [{ containerPort: 1, hostPort: 80 }] }] }),
    ],
    result: [`p: 0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.${TAIL(1, 1)}`],
  },
  {
    case: "missing claim",
    nodes: [node("a")],
    pods: [pod("p", withClaim("c"))],
    result: ['p: 0/1 nodes are available: persistentvolumeclaim "c" not found. not found'],
  },
  {
    case: "unbound claim",
    nodes: [node("a")],
    pods: [pod("p", withClaim("c"))],
    claims: { c: claim("Pending") },
    result: ["p: 0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"],
  },
  {
    case: "bound claim",
    nodes: [node("a")],
    pods: [pod("p", withClaim("c"))],
    claims: { c: claim("Bound") },
    result: ["p → a"],
  },
  {
    case: "scheduling gate",
    nodes: [node("a")],
    pods: [pod("p", { schedulingGates: [{ name: "g" }] })],
    result: ["p: Scheduling is blocked due to non-empty scheduling gates"],
  },
  { case: "another scheduler's", nodes: [node("a")], pods: [pod("p", { schedulerName: "mine" })], result: [] },
];

describe("scheduling", () => {
  test.each(rows)("$case", ({ nodes, pods, claims = {}, result }) => {
    const { steps } = schedulePods({
      nodes,
      pods,
      claimOf: (_, name) => claims[name],
      isMarkedUnschedulable: () => false,
      now: 0,
    });
    const texts = steps.flatMap((step) => {
      if (step.do === "subresource") return [`${step.name.name} → ${(step.body["target"] as { name: string }).name}`];
      if (step.do !== "status") return [];
      const { metadata, status } = step.object as unknown as Pod;
      return [`${metadata.name}: ${status?.conditions?.find(({ type }) => type === "PodScheduled")?.message}`];
    });
    expect(texts).toEqual(result);
  });

  test("does not write the same reason twice", () => {
    const waiting = pod("p", asks("5"));
    const state = { nodes: [node("a")], claimOf: () => undefined, isMarkedUnschedulable: () => false, now: 0 };
    const first = schedulePods({ ...state, pods: [waiting] });
    const marked = first.steps.find((step) => step.do === "status");
    expect(schedulePods({ ...state, pods: [(marked as unknown as { object: Stored<Pod> }).object] }).steps).toEqual([]);
  });
});
